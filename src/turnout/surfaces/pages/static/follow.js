// Parts of a page that follow a running session or a list, and buttons that copy. Pages work without it.
"use strict";
(() => {
  const PAUSE = 2000;

  async function follow(part) {
    let tag = "";
    for (;;) {
      await new Promise((done) => setTimeout(done, PAUSE));
      if (document.hidden || part.contains(document.activeElement)) continue;
      try {
        const answer = await fetch(part.dataset.live, { headers: tag ? { "If-None-Match": tag } : {} });
        if (answer.status === 401) return;
        if (answer.status !== 200) continue;
        tag = answer.headers.get("etag") || "";
        const text = await answer.text();
        const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 80;
        replace(part, text);
        if (part.getAttribute("aria-live") && atEnd) window.scrollTo(0, document.body.scrollHeight);
        if (part.querySelector("[data-ended]")) return;
      } catch {
        // the server has ended, or the machine sleeps: try again later
      }
    }
  }

  function replace(part, text) {
    const open = new Set([...part.querySelectorAll("details")].flatMap((each, at) => (each.open ? [at] : [])));
    part.innerHTML = text;
    part.querySelectorAll("details").forEach((each, at) => { if (open.has(at)) each.open = true; });
  }

  function addCopyButton(text) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    });
    text.after(button);
  }

  document.querySelectorAll("[data-live]").forEach(follow);
  document.querySelectorAll("[data-copy]").forEach(addCopyButton);
})();
