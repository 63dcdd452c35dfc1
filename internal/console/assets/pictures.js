// Profile pictures: loads the visible ones, a few at a time, instead of the letters.

const most = 3; // at a time: browsers open six connections, and links have priority
const states = new Map(); // by address: "waits", "loads", "shown" or "none"
const inSight = new Map(); // visible avatars by address
const waiting = [];
let loading = 0;

// The pictures are in a style sheet, because the page refreshes often.
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

function show(path) {
  const name = JSON.stringify(path);
  sheet.insertRule(`.avatar[data-picture=${name}] { background: center / cover url(${name}); color: transparent; }`);
}

function next() {
  while (loading < most && waiting.length) {
    const path = waiting.pop(); // the last one that became visible
    if (!inSight.get(path).size) { // scrolled past
      states.delete(path);
      continue;
    }
    const picture = new Image();
    const done = (state) => {
      loading--;
      states.set(path, state);
      if (state === "shown") show(path);
      next();
    };
    picture.onload = () => done("shown");
    picture.onerror = () => done("none");
    states.set(path, "loads");
    loading++;
    picture.src = path;
  }
}

const watch = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    const path = target.dataset.picture;
    if (!inSight.has(path)) inSight.set(path, new Set());
    if (!isIntersecting) {
      inSight.get(path).delete(target);
      continue;
    }
    inSight.get(path).add(target);
    if (states.has(path)) continue;
    states.set(path, "waits");
    waiting.push(path);
  }
  next();
}, { rootMargin: "60px" });

const watched = new WeakSet();
let planned;
function look() {
  planned = undefined;
  for (const avatar of document.querySelectorAll(".avatar[data-picture]")) {
    if (watched.has(avatar)) continue;
    watched.add(avatar);
    watch.observe(avatar);
  }
}

if (!navigator.connection?.saveData) {
  look();
  new MutationObserver(() => (planned ??= requestAnimationFrame(look))).observe(document.body, { childList: true, subtree: true });
}
