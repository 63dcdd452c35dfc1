// The lightbox shows the pictures and videos of the page one by one.
import { all, find } from "./base.js";
import { pause } from "./voice.js";

const viewer = find("#viewer");
const part = (name) => find(`[data-${name}]`, viewer);
const links = () => all("main [data-view]");
let shown; // the id of the message

function show(link) {
  const { id, view, sender, when } = link.dataset;
  shown = id;
  const path = link.getAttribute("href");
  const noun = view === "video" ? "Video" : "Photo";
  viewer.setAttribute("aria-label", `${noun}: ${sender}, ${when}`);
  part("sender").textContent = sender;
  part("when").textContent = when;
  part("caption").textContent = captionOf(link);
  part("save").href = path + "?save";
  part("show").hidden = !link.dataset.show;
  part("show").href = link.dataset.show || "";
  find(".shown", viewer).replaceChildren(view === "video" ? videoOf(path) : pictureOf(path));
  step(0);
}

// captionOf returns the caption of a picture, in a chat or in its gallery.
function captionOf(link) {
  if (link.dataset.caption !== undefined) return link.dataset.caption;
  const around = link.closest(".album-part, .msg");
  const text = find(around.matches(".msg") ? ".text" : "figcaption > span[dir]", around)?.cloneNode(true);
  if (text) all(".meta", text).forEach((one) => one.remove());
  return text?.textContent.trim() || "";
}

function failing(element, noun) {
  element.addEventListener("error", () => {
    element.replaceWith(Object.assign(document.createElement("p"), { textContent: `This ${noun} can’t be loaded. Try downloading it, or ask for it to be sent again.` }));
  });
  return element;
}

function pictureOf(path) {
  const picture = failing(Object.assign(new Image(), { src: path, alt: "Photo" }), "photo");
  picture.addEventListener("click", () => picture.classList.toggle("zoomed"));
  return picture;
}

function videoOf(path) {
  pause();
  return failing(Object.assign(document.createElement("video"), { src: path, controls: true, autoplay: true, playsInline: true }), "video");
}

// step moves by a number of pictures and updates the buttons.
function step(by) {
  const every = links();
  const at = every.findIndex((one) => one.dataset.id === shown);
  const next = every[at + by];
  if (by) return next && show(next);
  part("count").textContent = every.length > 1 ? `${at + 1} of ${every.length}` : "";
  for (const button of all("[data-step]", viewer)) button.disabled = !every[at + Number(button.dataset.step)];
  for (const beside of [every[at - 1], every[at + 1]]) if (beside?.dataset.view === "image") new Image().src = beside.getAttribute("href");
}

if (viewer) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-view]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link);
    viewer.showModal();
    part("close").focus();
  });
  viewer.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.step) step(Number(button.dataset.step));
    if (button?.matches("[data-close]") || event.target.matches(".shown, .stage")) viewer.close();
  });
  viewer.addEventListener("close", () => {
    find(".shown", viewer).replaceChildren();
    links().find((one) => one.dataset.id === shown)?.focus({ preventScroll: true });
  });
  viewer.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || event.target.matches("video")) return;
    event.preventDefault();
    step(by);
  });

  // Swiping left or right moves on; swiping down closes.
  let from;
  viewer.addEventListener("touchstart", (event) => {
    const touch = event.touches[0];
    const seeks = event.target.matches("video") && touch.clientY > event.target.getBoundingClientRect().bottom - 90;
    const isZoomed = visualViewport.scale > 1.05 || find(".zoomed", viewer);
    from = event.touches.length > 1 || seeks || isZoomed ? undefined : touch;
  }, { passive: true });
  viewer.addEventListener("touchend", (event) => {
    if (!from) return;
    const x = event.changedTouches[0].clientX - from.clientX, y = event.changedTouches[0].clientY - from.clientY;
    if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(y)) step(x < 0 ? 1 : -1);
    else if (y > 90 && y > 2 * Math.abs(x)) viewer.close();
  });
}
