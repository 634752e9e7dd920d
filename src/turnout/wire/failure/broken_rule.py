"""Which rule of the tool protocol a refusal names, found by the words that stay the same.

Refusals contain ids, positions and model names, but the rest of the sentence is stable. A row
is a rule and parts that must all be found, in any case and with any kind of quote. Rows are
tried in order, so the narrower one stands first.
"""

from __future__ import annotations

_ROWS = """
ANT-30  found in | _tool_result blocks | server_tool_use
ANT-01  tool_use ids were found without tool_result blocks immediately after
ANT-02  tool_result block(s) at the beginning of this message
ANT-02  must begin with a matching number of tool_result blocks
ANT-03  unexpected tool_use_id found in tool_result blocks
ANT-04  must have a single result
ANT-05  tool_use ids must be unique
ANT-06  tool_use | id: string should match pattern
ANT-06  tool_use_id: string should match pattern
ANT-07  tool_use.input: input should be a valid dictionary
ANT-08  custom.name: string should match pattern
ANT-08  tool names must be unique
ANT-08  property keys should match pattern
ANT-09  input_schema does not support oneof, allof, or anyof at the top level
ANT-09  custom.input_schema
ANT-10  text content blocks must be non-empty
ANT-10  text content blocks must contain non-whitespace text
ANT-10  all messages must have non-empty content
ANT-11  cannot end with trailing whitespace
ANT-12  does not support assistant message prefill
ANT-13  first message must use the user role
ANT-14  blocks with cache_control may be provided
ANT-14  cache_control block must not come after
ANT-15  cache_control cannot be set for empty text
ANT-15  cache_control: extra inputs are not permitted
ANT-16  expected thinking or redacted_thinking, but found
ANT-17  thinking.signature: field required
ANT-18  blocks in the latest assistant message cannot be modified
ANT-19  invalid signature in thinking block
ANT-20  when thinking is disabled, an assistant message in the final position cannot contain thinking
ANT-21  thinking.type. | is not supported for this model
ANT-22  temperature may only be set to 1 when thinking
ANT-23  max_tokens must be greater than thinking.budget_tokens
ANT-24  thinking may not be enabled when tool_choice forces
ANT-24  tool_choice: type tool and any are not supported
ANT-25  tool_choice: may only be specified while providing tools
ANT-25  requests which include tool_use or tool_result blocks must define tools
ANT-26  role system is not supported on this model
ANT-27  messages. | extra inputs are not permitted
ANT-28  all content must be type text if is_error is true
KIM-02  reasoning_content is missing in assistant tool call message
KIM-03  tool_choice | incompatible with thinking enabled
KIM-04  with role assistant must not be empty
DSK-01  reasoning_content in the thinking mode must be passed back
DSK-01  missing reasoning_content field in the assistant message
DSK-03  insufficient tool messages following tool_calls message
DSK-04  does not support this tool_choice
QWN-01  internalerror.algo | messages with role tool must be a response
QWN-02  tool_choice parameter does not support being set to required or object in thinking mode
QWN-03  enable_thinking must be set to false for non-streaming
QWN-03  thinking_budget parameter must be a positive integer
OAC-01  must be followed by tool messages responding to each tool_call_id
OAC-02  messages with role tool must be a response to a prec
OAC-03  messages[ | tool_call | id: string too long
OAC-03  messages[ | tool_call | id: empty string
OAC-05  messages[ | tool_calls: array too long
OAC-05  messages[ | tool_calls: empty array
OAC-06  tools: array too long
OAC-06  parallel_tool_calls is only allowed when tools are specified
OAC-06  parallel_tool_calls: expected a boolean
OAC-06  tool_choice is only allowed when tools are specified
OAC-07  function.name: string does not match pattern
OAC-07  tools[ | name: string does not match pattern
OAC-09  content: expected a string, got null
OAC-11  function tools with reasoning_effort are not supported
OAC-12  property reasoning_content is unsupported
OAC-14  invalid schema for function | schema must have type object
OAC-13  invalid schema for function
OAR-02  no tool call found for function call output
OAR-03  no tool output found for function call
OAR-04  duplicate function_call_output
OAR-04  duplicate item found with id
OAR-06  input[ | call_id: string too long
OAR-06  input[ | call_id: empty string
OAR-07  expected an id that begins with
OAR-08  items are not persisted when store is set to false
OAR-09  was provided without its required
OAR-10  encrypted content | could not be verified
OAR-10  encrypted content could not be decrypted
OAR-01  invalid value: function_call. supported values are
OAR-13  invalid value: function_result. supported values are
OAR-11  invalid value: | supported values are: output_text and refusal
OAR-11  invalid value: output_text. supported values are
OAR-15  previous response with id
GEM-01  number of function response parts is equal to the number of function call parts
GEM-02  function call turn comes immediately after a user turn
GEM-03  function response turn comes immediately after a function call turn
GEM-04  please use a valid role
GEM-05  function_response.response | google.protobuf.struct
GEM-06  unknown name id at | function_
GEM-07  missing a thought_signature
GEM-10  corrupted thought signature
GEM-10  invalid thought signature
GEM-10  thought signature is not valid
GEM-12  unknown name | function_declarations | cannot find field
GEM-12  proto field is not repeating, cannot start list
GEM-13  only allowed for string type
GEM-13  should be non-empty for object type
GEM-13  items: missing field
GEM-14  invalid function name
GEM-15  contents.parts must not be empty
GEM-15  required oneof field data must have one initialized field
MIS-01  tool call id was | with a length of 9
MIS-02  not the same number of function calls and responses
MIS-03  unexpected tool call id
MIS-03  duplicate tool call id
MIS-06  unexpected role tool after role user
MIS-06  conversation must start with a user message or system message
MIS-04  unexpected role | after role
MIS-05  expected last role user or tool
MIS-05  with prefix true must be last message
MIS-07  must have either content or tool_calls, but not both
MIS-08  function name was | with a maximum length of
MIS-09  invalid tool schema
MIS-11  unexpected content chunk types in assistant message
XAI-01  each message must have at least one content element
VLL-02  when using tool_choice, tools must be set
VLL-02  does not match any of the specified tools
LCP-01  all non-assistant messages must contain content
LCP-01  assistant message must contain either content or tool_calls
LCP-01  missing tool call type
LCP-02  tools param requires --jinja
LCP-02  cannot use custom grammar constraints with tools
LCP-02  failed to parse tool call arguments as json
LCP-03  cannot have 2 or more assistant messages at the end
OLL-01  invalid tool call arguments
OLL-01  invalid message content type
BDK-01  expected toolresult blocks at
BDK-01  toolresult blocks at | exceeds the number of tooluse blocks
BDK-02  must alternate between user and assistant roles
BDK-02  text field in the contentblock object | is blank
BDK-03  toolconfig field must be defined when using tooluse and toolresult
BDK-04  cannot be empty when status value is error
BDK-05  tooluseid | failed to satisfy constraint
"""

RULES: tuple[tuple[str, tuple[str, ...]], ...] = tuple(
    (row[:6], tuple(part.strip() for part in row[6:].split("|"))) for row in _ROWS.strip().splitlines()
)

_QUOTES = str.maketrans("", "", "`'\"ʼ‘’“”\\")


def broken_rule(text: str) -> str:
    """The id of the rule that a refusal names, or "" when it is not one we know."""
    said = " ".join(text.translate(_QUOTES).lower().split())
    for rule, parts in RULES:
        if all(part in said for part in parts):
            return rule
    return ""
