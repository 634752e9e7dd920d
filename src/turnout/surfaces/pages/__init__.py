"""Conversations and requests in a browser: `turnout view`, and below the gateway's address.

    site               the pages by their addresses: `Pages.add_to(gateway)`
    view_server        the same pages without a gateway, for `turnout view`
    entry, sign_in     the way in; the one-time link, the cookie, the nonces of forms
    frame, drawing     what every page has in common: no secrets, templates, headers
    session_addresses  what is below `/sessions`; session_pages has its values
    as_target          a conversation as another provider reads it
    request_addresses  what is below `/requests`; request_pages has its values
    request_records    reads the gateway's memory
    numbers, waiting   cost and counters; calls that wait for an answer

A conversation is drawn by `shared.conversation_html`, which exports use too. Every page works without
scripts. One script replaces parts of a page that say where their next state is (`data-live`). Nothing is
loaded from elsewhere, and no style or script is inside a page.
"""
