"""What was resolved, and why: diagnostics are values, returned and kept, never raised.

The core reports by returning; the runtime decides who hears of it. `CODES` lists every
code with one line, so that codes can be counted and searched.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Layer = Literal["history", "render", "wire", "tools"]

CODES: dict[str, str] = {
    # at the door
    "orphaned_result": "a result answered no call; kept as a note, rendered nowhere",
    "early_result": "a result stood before its call",
    "misplaced_result": "a result stood apart from its call",
    "spaced_id": "the ids of a call and its result differed by the spaces around them; paired all the same",
    "unnamed_result": "a result had no id; matched by name and position",
    "duplicate_outcome": "a call had several results; one was kept",
    "repeated_call": "the same call was written twice; one was kept",
    "reused_id": "an id was used for a second call; the calls were told apart",
    "empty_id": "a call came without an id",
    "long_id": "an id was longer than any provider gives",
    "foreign_canonical_id": "a hist_tool_ id with foreign characters was canonicalised again",
    "misplaced_call": "a call stood inside a message that cannot hold one",
    "mixed_shapes": "one message held calls in two shapes",
    "missing_result": "a call never got a result; answered as interrupted",
    "invalid_arguments": "arguments were not a JSON object; the text was kept",
    "unplain_value": "a value was circular, not JSON or not valid text; resolved",
    "name_mismatch": "a result named another tool than its call; the call's name stands",
    "unknown_call": "the call lives at the provider; made from its result, name unknown",
    "held_by_provider": "earlier turns lie at the provider, under an id; they are not here",
    "unknown_role": "a message had a role that the format does not know",
    "unknown_block": "a block kind we do not know was kept as it is, or named where it held nothing",
    "speaker_name": "a message says what its speaker is called; only the API it was written for is told",
    "unknown_field": "a field beside the content that we do not know was left out",
    "unknown_entry": "an entry kind of a newer version was kept as it is",
    "merged_turns": "a thinking-only turn was joined with the calls that follow it",
    "shared_turn_id": "a turn id was shared; made distinct by ordinal",
    "empty_block": "thinking held neither words nor what its model signed; left out",
    "empty_message": "a message held nothing; left out",
    "unread_fields": "a body asks for things that are no part of a history; read_request() reads them",
    "unreadable_tool": "a declaration of a tool makes no sense; left out, or read without its schema",
    "repeated_tool": "two tools have one name; the first stands",
    "incomplete_result": "a result was marked as not complete; read as interrupted",
    # in a stream
    "misplaced_arguments": "arguments came at an unknown index; added to the only open call",
    "ambiguous_arguments": "arguments came that could be any call's; the call without any is not run",
    "nameless_call": "arguments came for a call that never got a name; left out",
    "replaced_arguments": "the final arguments differ from those streamed; the final ones stand",
    "changed_id": "a call got another id while it streamed; the first one stands",
    # at the write boundary
    "late_outcome": "an outcome came after its turn was sealed; kept as a note",
    "repeated_outcome": "an outcome was given again; the first stands",
    "replaced_outcome": "a real outcome replaced a synthetic one",
    "sealed_open_call": "a call was still open when the conversation went on",
    "foreign_record": "records of another program that no turn can be made of; kept as notes",
    "missing_record": "a record names one that is not in the file; it is read as following the line before",
    "passed_over": "records of another program that only repeat others or keep its books; counted",
    # in the store
    "torn_tail": "the last line of a file was cut off; what is left of it is kept as a note",
    "unreadable_entry": "a stored entry makes no sense; kept in its place, read by nobody",
    "resumed_reply": "a reply was under way when its process ended; kept as far as it came",
    "cut_reply": "a reply that broke off was longer than anyone can read; its first part is kept",
    "resumed_call": "a tool was running when its process ended; answered as interrupted",
    # while tools run
    "repaired_arguments": "arguments were put right before the tool ran",
    "repaired_name": "a tool was called by another spelling of its name",
    "invalid_call": "a call did not fit its tool, or named none; answered with an error",
    "repeated_schedule": "a call was scheduled again; it runs once",
    "call_in_result": "a tool call stood inside a result; left out",
    "shortened_output": "a result was over the budget; cut, and the whole of it saved",
    "abandoned_tool": "a tool did not stop when asked; given up",
    "hook_refused": "a hook refused a call or its result",
    "hook_failed": "a hook broke, took too long or gave what does not fit; that counts as a refusal",
    "late_result": "a tool that was given up has ended; what it said was ignored",
    # in a transcript
    "synthetic_result": "a result was made because the real one never came",
    "thinking_omitted": "thinking of another model was left out",
    "thinking_as_text": "thinking of another model was kept as text",
    "opaque_as_text": "a block that only another provider understands was told in words",
    "opaque_omitted": "a block that only another provider understands, and that says nothing, was left out",
    "citations_omitted": "citations that cannot be sent were left out; the text they belong to stays",
    "media_replaced": "media that the target cannot read was named in text",
    "media_details_omitted": "what another provider was told about media was left out",
    "media_corrected": "media was not of the type it said; its first bytes show which",
    "dropped_tool": "a tool was left out: it is another provider's own, or the model knows no tools",
    "code_as_text": "code was written as text",
    "empty_turn": "a turn had nothing that this target can read",
    "shortened_result": "a result was shortened by a compaction",
    # found by the checkers: the canonical state
    "unreadable_history": "a part of the history cannot even be looked at",
    "foreign_entry": "the log holds something that is no entry",
    "bad_turn_key": "a turn's key is empty, or holds '|'",
    "repeated_turn_key": "two turns have one key",
    "bad_origin": "a model turn does not say who wrote it",
    "foreign_block": "a turn holds something that is no block of a turn",
    "bad_call_id": "a call's id is not canonical",
    "repeated_call_id": "two calls have one id",
    "call_out_of_place": "a call stands in an outcome, or in a turn that is not a model's",
    "bad_arguments": "the arguments of a call are not a plain JSON object",
    "started_unknown_call": "a call was started that was never made",
    "started_twice": "a call was started again",
    "started_after_outcome": "a call was started after it had its outcome",
    "settled_unknown_call": "an outcome was recorded for a call that was never made",
    "bad_outcome": "an outcome has no known status, or holds what is no content",
    "overwritten_outcome": "an outcome took the place of one that should stand",
    "changed_after_seal": "an outcome was recorded after its turn was sealed",
    "unanswered_call": "the conversation went on past a call without an outcome",
    "seal_of_unknown_turn": "a turn was sealed that is not the last one",
    "cut_at_unknown_turn": "a compaction cuts at a turn that is not there",
    "cut_through_open_turn": "a compaction cuts away calls that wait for their outcome",
    "unknown_pin": "a compaction keeps a turn that is not there",
    "shortened_unknown_call": "a compaction shortens the result of a call that was never made",
    "rewind_to_unknown_turn": "a rewind goes to a turn that is not there",
    "unclean_text": "a text holds a lone surrogate or NUL",
    "bad_residue": "private state of a provider is not plain JSON",
    "wrong_turns": "the visible turns are not those that the log tells of",
    "wrong_ledger": "the ledger is not what the log tells",
    "wrong_open_turn": "the open turn is not the one that the log leaves open",
    "wrong_final": "the count of final turns does not fit",
    "wrong_summary": "the summary is not the one in force",
    "wrong_shortened": "the shortened results are not those of the log",
    "wrong_generation": "a compaction or rewind did not raise the generation",
    # found by the checkers: a transcript
    "unreadable_transcript": "a part of the transcript cannot even be looked at",
    "stale_transcript": "what was rendered turn by turn is not what one render of the whole gives",
    "foreign_message": "something is no message, or has no known role",
    "hollow_message": "a message holds nothing",
    "foreign_part": "a message holds something that is no block",
    "call_from_another": "a call stands in a message that is not the model's",
    "result_from_another": "a result stands outside the tool messages",
    "thinking_from_another": "thinking stands in a message that is not the model's",
    "stranger_among_results": "a tool message holds more than results",
    "call_without_result": "a call is never answered",
    "result_without_call": "a result answers no call",
    "answered_twice": "a call has several results",
    "called_twice": "two calls have one id",
    "split_results": "the results of one message's calls stand in several messages",
    "result_apart_from_call": "a result does not come right after its call",
    "results_out_of_order": "results stand in another order than their calls",
    "result_of_another_name": "a result names another tool than its call",
    "bad_result": "a result has no outcome, or one that holds what is no content",
    "empty_result": "a result says nothing",
    "call_inside_result": "a call stands inside a result",
    "empty_text": "a text is empty",
    "unreadable_text": "a text holds a lone surrogate or NUL",
    "arguments_no_object": "the arguments of a call are not an object",
    "leaked_residue": "private state of one provider would go to another",
    # found by the checkers: on the wire
    "unencodable": "the transcript could not be written as a request",
}


class Diagnostic(Struct, frozen=True):
    """One thing that was resolved, noticed or found wrong."""

    layer: Layer
    code: str
    call_id: str = ""
    detail: str = ""
