"""The interfaces and tools of Go Oasis (docs/framework/architecture.md of it), ours, and the test that shows each.

    python3 tests/contracts/table.py

Data; test_table.py sees to it that every test named here is there.
"""

T = "tests/"
# What the seed has, what ours does otherwise or better, "file::test".
ROWS = (
    ("Provider: chat, with tools, streaming, name", "six vendors, tools while streaming",
     "contracts/test_contracts.py::test_providers"),
    ("Response with usage", "cached and reasoning tokens beside", "contracts/test_contracts.py::test_providers"),
    ("EmbeddingProvider", "by the alias `embedding`; none is needed",
     "parts/memory/test_contracts.py::test_embedding_providers"),
    ("Frontend: poll, send, edit, typing", "one table of methods, runs that are polled",
     "contracts/test_contracts.py::test_frontends"),
    ("VectorStore", "a byte a number, beside words", "parts/memory/test_contracts.py::test_vector_stores"),
    ("MemoryStore", "facts that fade by days of use", "parts/memory/test_contracts.py::test_memory_stores"),
    ("Tool: definitions and execute", "classes, approval, taint", "contracts/test_contracts.py::test_tools"),
    ("ToolRegistry", "duplicates told, a fault is a result", "contracts/test_contracts.py::test_tool_registries"),
    ("Ids: xid", "sorts also when the clock was set back", "core/test_ids.py::test_an_xid_is_the_published_example"),
    ("Errors travel in results", "with a hint",
     "agent/test_turn.py::test_a_failed_or_unknown_tool_is_a_result_and_the_turn_goes_on"),
    ("Config: defaults, TOML, environment", "unknown keys are errors",
     "config/test_host.py::test_what_nobody_knows_is_an_error_that_names_file_and_line"),
    ("Init of the store", "nothing is made before the first write",
     "system/test_records.py::test_nothing_is_made_before_the_first_write"),
    ("StoreMessage, GetMessages", "a tree in a log, order by id", "core/test_store.py::*"),
    ("SearchMessages", "words and vectors fused, gone with the message",
     "parts/memory/test_search_by_meaning.py::test_with_a_model_other_words_of_the_same_meaning_are_found"),
    ("SearchChunks", "words and vectors fused, with sources",
     "parts/memory/test_library.py::test_what_is_added_is_found_with_its_source"),
    ("Rows with unreadable vectors are skipped", "as there",
     "parts/memory/test_library.py::test_vectors_that_cannot_be_read_are_passed_over"),
    ("Other lengths and zero vectors score 0", "as there, and another model is told",
     "parts/memory/test_library.py::test_another_model_or_length_makes_them_old_until_they_are_made_anew"),
    ("StoreDocument: document and chunks at once", "also in a power cut",
     "parts/memory/test_library.py::test_after_a_power_cut_a_document_is_whole_or_not_there"),
    ("Storage form: JSON text in rows", "append-only lines, compacted by themselves",
     "system/test_records.py::test_after_a_power_cut_the_records_are_as_before_or_as_after"),
    ("Facts: merge above 0.85, reinforce", "no secret is one",
     "parts/memory/test_facts_kept.py::test_what_is_said_again_becomes_surer_up_to_one"),
    ("Facts: decay and pruning", "called, and by days of use",
     "parts/memory/test_facts_kept.py::test_a_fact_fades_after_a_week_and_no_further_than_out_of_sight"),
    ("Fact extraction, gated", "off until the owner turns it on",
     "parts/memory/test_facts_daemon.py::test_nothing_is_taken_out_of_what_is_said_until_the_owner_wants_it"),
    ("Ingest: chunks by paragraph, sentence, word", "characters, paragraphs kept, other scripts",
     "parts/memory/test_chunking.py::test_nothing_is_lost_and_nothing_is_too_long"),
    ("Overlap of chunks", "as there",
     "parts/memory/test_chunking.py::test_the_next_chunk_begins_with_the_end_of_the_last_one"),
    ("Sentences end before upper case", "in every script",
     "parts/memory/test_chunking.py::test_sentences_of_scripts_without_spaces_end_at_their_own_marks"),
    ("HTML without tags", "by a worker without rights, all entities",
     "parts/memory/test_knowledge_daemon.py::test_a_page_that_is_uploaded_is_read_by_a_worker"),
    ("Markdown without marks, code kept", "as there",
     "parts/memory/test_extract.py::test_markdown_keeps_its_words_and_its_code"),
    ("IngestText, IngestHTML, IngestFile", "and PDF by a model",
     "parts/memory/test_extract.py::test_html_and_pdf_are_read_elsewhere_and_what_is_missing_is_told"),
    ("knowledge_search", "and OpenWrt's options; taints with the title",
     "parts/memory/test_knowledge_daemon.py::test_a_tool_finds_documents_and_taints_with_their_title"),
    ("remember", "a note, taint and all",
     "parts/memory/test_knowledge_daemon.py::test_what_is_remembered_is_a_note_of_the_owners"),
    ("web_search", "SearXNG too, sources in order",
     "worker/test_web.py::test_a_search_gives_the_passages_that_fit_best_with_their_sources"),
    ("http_fetch", "addresses judged at each hop", "worker/test_web.py::test_each_redirect_is_judged_like_the_first"),
    ("shell_exec", "no shell, a user without rights",
     "tools/test_seed_programs.py::test_what_a_shell_would_do_more_is_refused"),
    ("file_read, file_write", "links are not followed",
     "tools/test_seed_files.py::test_links_are_not_followed_anywhere"),
    ("file_list, file_delete, file_stat", "as there",
     "tools/test_seed_files.py::test_written_read_listed_told_and_deleted"),
    ("schedule_create, list, update, delete", "exactly one order is changed",
     "parts/schedule/test_schedule_daemon.py::test_tools_want_exactly_one_order"),
    ("Schedule strings and next runs", "cron too, summer time", "parts/schedule/test_trigger.py::test_next_moment"),
    ("Missed runs", "come once",
     "parts/schedule/test_scheduler_timer.py::test_what_was_missed_while_the_router_was_off_comes_once"),
    ("Synthesis of results", "by a model that can do nothing",
     "parts/schedule/test_schedule_daemon.py::test_results_are_told_by_a_model_that_can_do_nothing"),
    ("Skills: instructions, tools, model", "files; unknown tools are refused",
     "parts/memory/test_skills_daemon.py::test_a_skill_that_asks_for_unknown_or_forbidden_tools_is_refused"),
    ("Choice of a skill", "wired, by nearness then a small model",
     "parts/memory/test_skills_daemon.py::test_a_small_model_chooses_among_what_is_near"),
    ("Telegram: long poll, offset", "kept over a restart",
     "parts/telegram/test_people_talk.py::test_an_update_that_comes_again_is_handled_once"),
    ("Telegram: splitting at 4096", "UTF-16, code fences",
     "parts/telegram/test_text.py::test_no_piece_is_longer_than_it_may_be_and_nothing_is_lost"),
    ("Telegram: Markdown to HTML", "everything is escaped",
     "parts/telegram/test_text.py::test_markdown_becomes_the_html_that_telegram_knows"),
    ("Telegram: 429", "waited out",
     "parts/telegram/test_line.py::test_a_flood_is_waited_out_for_as_long_as_telegram_says"),
    ("Owner", "by a pairing code, never the first sender",
     "parts/telegram/test_people_talk.py::test_a_stranger_gets_no_answer_and_leaves_no_trace"),
    ("Agent loop of 10 rounds, then a summary", "as there",
     "agent/test_turn.py::test_after_ten_rounds_the_model_sums_up_without_tools"),
    ("Documents in the chat", "and pictures",
     "parts/telegram/test_people_talk.py::test_a_document_becomes_part_of_the_chat_and_one_that_is_too_large_does_not"),
)  # fmt: skip


def table():
    """Return the rows as lines."""
    first, second = (max(len(row[at]) for row in ROWS) for at in (0, 1))
    return [f"{seed:<{first}}  {ours:<{second}}  {T}{test}" for seed, ours, test in ROWS]


if __name__ == "__main__":
    print("\n".join(table()))
