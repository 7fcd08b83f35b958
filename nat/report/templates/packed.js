// Opens the pages of a packed report, see `nat.report.packing`.
"use strict";

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

/** Run a script that was packed; a script that waits for it listens to `unpacked`. */
async function unpackScript(packed) {
  const script = document.createElement("script");
  script.textContent = await unpack(packed);
  document.head.append(script);
  document.dispatchEvent(new Event("unpacked"));
}

/** Show the page that was asked for in place of this one. */
async function openPacked(packed) {
  const files = JSON.parse(await unpack(packed));
  document.open(); // takes all listeners away, and nothing else of this script
  document.write(files[packedPage]);
  document.close();
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link) return;
    const { pathname } = new URL(link.getAttribute("href"), `https://packed/${packedPage}`);
    const name = decodeURIComponent(pathname.slice(1));
    if (name.endsWith(".html") || !(name in files)) return;
    event.preventDefault();
    const text = URL.createObjectURL(new Blob([files[name]], { type: "text/plain" }));
    Object.assign(document.createElement("a"), {
      href: text,
      download: name.split("/").slice(-2).join("_"),
    }).click();
    setTimeout(() => URL.revokeObjectURL(text), 1000);
  });
}
