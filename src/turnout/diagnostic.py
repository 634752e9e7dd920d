"""What was resolved, and why: diagnostics are values, returned and never raised.

The core returns them; the session decides who sees them. `CODES` lists every
code with one line, so that codes can be counted and searched.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Layer = Literal["history", "render", "wire", "tools"]

CODES: dict[str, str] = {
    # on ingest
    "orphaned_result": "a result answered no call; kept as a note, rendered nowhere",
    "early_result": "a result came before its call",
    "misplaced_result": "a result did not follow its call",
    "spaced_id": "the ids of a call and its result differed by the spaces around them; paired",
    "unnamed_result": "a result had no id; matched by name and position",
    "duplicate_outcome": "a call had several results; one was kept",
    "repeated_call": "the same call was written twice; one was kept",
    "reused_id": "an id was used for a second call; both calls were kept",
    "empty_id": "a call came without an id",
    "long_id": "an id was longer than any provider writes",
    "foreign_canonical_id": "a hist_tool_ id with foreign characters was canonicalised again",
    "misplaced_call": "a call was in a message that cannot hold one",
    "mixed_shapes": "one message held calls in two shapes",
    "missing_result": "a call never got a result; answered as interrupted",
    "invalid_arguments": "arguments were not a JSON object; the text was kept",
    "unplain_value": "a value was circular, not JSON or not valid text; resolved",
    "name_mismatch": "a result named another tool than its call; the name in the call is kept",
    "unknown_call": "the provider holds the call; it was made from its result, its name is unknown",
    "held_by_provider": "the provider holds earlier turns, under an id; they are not in this history",
    "unknown_role": "a message had a role that the format does not know",
    "unknown_block": "a block of unknown kind was kept as it is, or named where it was empty",
    "speaker_name": "a message names its speaker; only the API it was written for gets the name",
    "unknown_field": "a field beside the content that we do not know was left out",
    "unknown_entry": "an entry kind of a newer version was kept as it is",
    "merged_turns": "a thinking-only turn was joined with the calls that follow it",
    "shared_turn_id": "a turn id was shared; made distinct by ordinal",
    "empty_block": "thinking had neither text nor a signature; left out",
    "empty_message": "a message was empty; left out",
    "unread_fields": "a body has fields that do not belong to a history; read_request() reads them",
    "unreadable_tool": "a declaration of a tool cannot be read; left out, or read without its schema",
    "repeated_tool": "two tools have one name; the first is kept",
    "incomplete_result": "a result was marked as not complete; read as interrupted",
    # in a stream
    "misplaced_arguments": "arguments came at an unknown index; added to the only open call",
    "ambiguous_arguments": "arguments came that could be for any call; the call without any is not run",
    "nameless_call": "arguments came for a call that never got a name; left out",
    "replaced_arguments": "the final arguments differ from those streamed; the final ones are kept",
    "changed_id": "a call got another id while it streamed; the first one is kept",
    # at the write boundary
    "late_outcome": "an outcome came after its turn was sealed; kept as a note",
    "repeated_outcome": "an outcome was given again; the first is kept",
    "replaced_outcome": "a real outcome replaced a synthetic one",
    "sealed_open_call": "a call was still open when the conversation continued",
    "foreign_record": "records of another program that are not turns; kept as notes",
    "missing_record": "a record names one that is not in the file; it is read as following the line before",
    "passed_over": "records of another program that repeat others or are bookkeeping; skipped",
    # in the store
    "torn_tail": "the last line of a file was cut off; its beginning is kept as a note",
    "unreadable_entry": "a stored entry cannot be read; kept as a note in its place",
    "resumed_reply": "a reply was in progress when its process ended; kept as far as it came",
    "cut_reply": "a reply that broke off was too long; its first part is kept",
    "resumed_call": "a tool was running when its process ended; answered as interrupted",
    # while tools run
    "repaired_arguments": "arguments were corrected before the tool ran",
    "repaired_name": "a tool was called by another spelling of its name",
    "invalid_call": "a call did not fit its tool, or named none; answered with an error",
    "repeated_schedule": "a call was scheduled again; it runs once",
    "call_in_result": "a tool call was inside a result; left out",
    "shortened_output": "a result was over the budget; truncated, and the whole result saved",
    "abandoned_tool": "a tool did not stop when cancelled; abandoned",
    "hook_refused": "a hook refused a call or its result",
    "hook_failed": "a hook failed, took too long or returned a wrong value; that counts as a refusal",
    "late_result": "an abandoned tool has ended; its result was ignored",
    # in a transcript
    "synthetic_result": "a result was made because the real one never came",
    "thinking_omitted": "thinking of another model was left out",
    "thinking_as_text": "thinking of another model was kept as text",
    "opaque_as_text": "a block that only another provider understands was written as text",
    "opaque_omitted": "a block that only another provider understands was left out: it has no text",
    "citations_omitted": "citations that cannot be sent were left out; the text they belong to stays",
    "media_replaced": "media that the target cannot read was named in text",
    "media_details_omitted": "details of media for another provider were left out",
    "media_corrected": "media had a wrong type; corrected by its first bytes",
    "dropped_tool": "a tool was left out: it belongs to another provider, or the model has no tools",
    "code_as_text": "code was written as text",
    "empty_turn": "a turn had nothing that this target can read",
    "shortened_result": "a result was shortened by a compaction",
    # found by the checkers: the canonical state
    "unreadable_history": "a part of the history cannot be read",
    "foreign_entry": "the log holds a value that is not an entry",
    "bad_turn_key": "the key of a turn is empty, or holds '|'",
    "repeated_turn_key": "two turns have one key",
    "bad_origin": "a model turn does not say who wrote it",
    "foreign_block": "a turn holds a value that is not a block",
    "bad_call_id": "the id of a call is not canonical",
    "repeated_call_id": "two calls have one id",
    "call_out_of_place": "a call is in an outcome, or in a turn that is not a model turn",
    "bad_arguments": "the arguments of a call are not a plain JSON object",
    "started_unknown_call": "a call was started that was never made",
    "started_twice": "a call was started again",
    "started_after_outcome": "a call was started after it had its outcome",
    "settled_unknown_call": "an outcome was recorded for a call that was never made",
    "bad_outcome": "an outcome has no known status, or holds a value that is not content",
    "overwritten_outcome": "an outcome replaced one that must be kept",
    "changed_after_seal": "an outcome was recorded after its turn was sealed",
    "unanswered_call": "the conversation continued after a call without an outcome",
    "seal_of_unknown_turn": "the turn that was sealed is not the last one",
    "cut_at_unknown_turn": "a compaction cuts at a turn that is not there",
    "cut_through_open_turn": "a compaction cuts away calls that wait for their outcome",
    "unknown_pin": "a compaction keeps a turn that is not there",
    "shortened_unknown_call": "a compaction shortens the result of a call that was never made",
    "rewind_to_unknown_turn": "a rewind goes to a turn that is not there",
    "unclean_text": "a text holds a lone surrogate or NUL",
    "bad_residue": "private state of a provider is not plain JSON",
    "wrong_turns": "the visible turns differ from the log",
    "wrong_ledger": "the ledger differs from the log",
    "wrong_open_turn": "the open turn is not the one that the log leaves open",
    "wrong_final": "the count of final turns is wrong",
    "wrong_summary": "the summary differs from the log",
    "wrong_shortened": "the shortened results differ from the log",
    "wrong_generation": "a compaction or rewind did not raise the generation",
    # found by the checkers: a transcript
    "unreadable_transcript": "a part of the transcript cannot be read",
    "stale_transcript": "rendering turn by turn and rendering the whole give different messages",
    "foreign_message": "a value is not a message, or has no known role",
    "hollow_message": "a message is empty",
    "foreign_part": "a message holds a value that is not a block",
    "call_from_another": "a call is in a message that is not from the model",
    "result_from_another": "a result is outside the tool messages",
    "thinking_from_another": "thinking is in a message that is not from the model",
    "stranger_among_results": "a tool message holds more than results",
    "call_without_result": "a call is never answered",
    "result_without_call": "a result answers no call",
    "answered_twice": "a call has several results",
    "called_twice": "two calls have one id",
    "split_results": "the results of the calls of one message are in several messages",
    "result_apart_from_call": "a result does not come right after its call",
    "results_out_of_order": "results have another order than their calls",
    "result_of_another_name": "a result names another tool than its call",
    "bad_result": "a result has no outcome, or one that holds a value that is not content",
    "empty_result": "a result is empty",
    "call_inside_result": "a call is inside a result",
    "empty_text": "a text is empty",
    "unreadable_text": "a text holds a lone surrogate or NUL",
    "arguments_no_object": "the arguments of a call are not an object",
    "leaked_residue": "private state of one provider would go to another",
    # found by the checkers: on the wire
    "unencodable": "the transcript could not be written as a request",
}


class Diagnostic(Struct, frozen=True):
    """One thing that was resolved or found wrong."""

    layer: Layer
    code: str
    call_id: str = ""
    detail: str = ""
