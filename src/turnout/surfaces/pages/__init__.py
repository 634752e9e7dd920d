"""Conversations and requests in a browser: `turnout view`, and below the gateway's address.

    site              the pages by their addresses: `Pages.add_to(gateway)`
    view_server       the same pages without a gateway, for `turnout view`
    sign_in           the one-time link, the cookie, the nonces of forms
    drawing           jinja2, its filters, and what every page is sent with
    conversation      a history as rows that a template can show
    session_pages     the list, one conversation, its export; as_target: as another provider reads it
    request_pages     the list and one request; request_records reads the gateway's memory
    numbers, waiting  cost and counters; calls that wait for an answer
    masked_json       a body for people: private state and images left out, ids linked

Every page works without scripts. One script replaces parts of a page that say where their next state
is (`data-live`). Nothing is loaded from elsewhere, and no style or script is inside a page.
"""
