// Files: a dialog shows chosen, dropped or pasted ones before sending.
import { all, find } from "./base.js";
import { chat, eachChat } from "./chat.js";
import { reply, toField, toggleExtras, unreply } from "./composer.js";
import * as outbox from "./outbox.js";

let form, dialog, list; // elements of the open chat
let most; // bytes of a file, and of the files of an album together
let mostParts; // pictures and videos of an album
const rows = new Map(); // files by row
const pictures = ["image/jpeg", "image/png", "image/bmp", "image/webp"]; // that can be in albums
const side = 112; // pixels of a thumbnail

// sizeOf formats a size.
export function sizeOf(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  for (; bytes >= 1000 && i < units.length - 1; i++) bytes /= 1000;
  return `${bytes < 100 && i ? bytes.toFixed(1) : Math.round(bytes)} ${units[i]}`;
}

// thumbnail returns a thumbnail of a file; undefined if the browser cannot draw it.
async function thumbnail(file) {
  if (!file.type.startsWith("image/") || file.size > 50e6) return undefined;
  try {
    const picture = await createImageBitmap(file);
    const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
    const scale = Math.max(side / picture.width, side / picture.height);
    canvas.getContext("2d").drawImage(picture, (side - picture.width * scale) / 2, (side - picture.height * scale) / 2, picture.width * scale, picture.height * scale);
    canvas.isSquare = picture.width === 512 && picture.height === 512;
    picture.close();
    return canvas;
  } catch {
    return undefined; // the icon is shown instead
  }
}

// isSticker reports whether a WebP file is sent as a sticker, because it is square or animated. Albums have no stickers.
async function isSticker(file, picture) {
  if (file.type !== "image/webp") return false;
  const head = new Uint8Array(await file.slice(0, 21).arrayBuffer());
  return picture?.isSquare || String.fromCharCode(...head.slice(12, 16)) === "VP8X" && Boolean(head[20] & 2);
}

const isVideo = (file) => file.type.startsWith("video/");

// numberOf says how many pictures and videos files are.
function numberOf(files) {
  const videos = files.filter(isVideo).length;
  const words = [[files.length - videos, "photo"], [videos, "video"]];
  return words.filter(([n]) => n).map(([n, noun]) => `${n} ${noun}${n === 1 ? "" : "s"}`).join(" and ");
}

// messages returns the rows of each message. Pictures and videos are sent as albums, other files alone.
function messages() {
  const all = [];
  const documents = find("[name=as]", dialog).checked;
  let album, bytes;
  for (const row of list.children) {
    const { size } = rows.get(row);
    if (documents || !row.fitsAlbum) all.push([row]);
    else if (!album || album.length === mostParts || bytes + size > most) {
      all.push((album = [row]));
      bytes = size;
    } else {
      album.push(row);
      bytes += size;
    }
  }
  return all;
}

// empty removes everything from the closed dialog.
function empty() {
  rows.clear();
  list.replaceChildren();
  find("form", dialog).reset();
  find(".when", dialog).open = false;
}

// offer adds files to the dialog, and names the ones that cannot be sent. The dialog's files were sent or dropped if it is
// closed, but its close event may be still to come.
export function offer(files, asDocuments = false) {
  if (!dialog.open) {
    empty();
    find("[name=as]", dialog).checked = asDocuments;
  }
  const problems = [];
  for (const file of files) {
    if (!file.size) problems.push(`${file.name} is empty or a folder, and can’t be sent.`);
    else if (file.size > most) problems.push(`${file.name} is ${sizeOf(file.size)}. The limit is ${sizeOf(most)}.`);
    else addRow(file);
  }
  const box = find("[data-problem]", dialog);
  box.hidden = !problems.length;
  box.textContent = problems.join(" ");
  count();
  toggleExtras(false);
  if (!dialog.open) dialog.showModal();
  if (matchMedia("(pointer: coarse)").matches) return;
  const captions = [...all(".file-row [name=caption]", list), find("[name=together]", dialog)].filter((one) => one.checkVisibility());
  (captions.at(-1) || find("[data-close]", dialog)).focus();
}

function addRow(file) {
  const row = find("#file-row").content.cloneNode(true).firstElementChild;
  find("[data-name]", row).textContent = file.name;
  find("[data-size]", row).textContent = sizeOf(file.size);
  find("[name=caption]", row).setAttribute("aria-label", "Caption for " + file.name);
  for (const way of ["up", "down"]) find(`[data-${way}]`, row).setAttribute("aria-label", `Move ${file.name} ${way}`);
  find("[data-remove]", row).setAttribute("aria-label", `Remove ${file.name}`);
  row.fitsAlbum = pictures.includes(file.type) || isVideo(file);
  rows.set(row, file);
  list.append(row);
  thumbnail(file).then(async (picture) => {
    if (picture) find(".file-thumb", row).replaceChildren(picture);
    row.picture = picture;
    if (!(await isSticker(file, picture)) || !rows.has(row)) return;
    row.fitsAlbum = false;
    count();
  });
}

function count() {
  const n = rows.size;
  const name = find(".chat-title h1")?.textContent || "this chat";
  find("#files-title").textContent = (n === 1 ? "Send a file" : `Send ${n} files`) + " to " + name;
  find("[data-go] span", dialog).textContent = n > 1 ? `Send ${n}` : "Send";
  const kinds = [...rows.values()].map((file) => (file.voice ? "voice" : file.type.split("/")[0]));
  const albums = messages().filter((group) => group.length > 1);
  const plain = !find("[name=as]", dialog).checked && !albums.length;
  option("views", plain && n && kinds.every((kind) => ["image", "video", "voice"].includes(kind)));
  option("videos", plain && kinds.includes("video"));
  shareCaption(albums);
  find("[data-go]", dialog).disabled = !n;
  all(".file-row", list).forEach((row, i) => {
    find("[data-up]", row).disabled = !i;
    find("[data-down]", row).disabled = i === n - 1;
    for (const one of all("[data-up], [data-down]", row)) one.hidden = n === 1;
  });
}

// shareCaption shows one caption for an album instead of one for each file.
function shareCaption(albums) {
  const box = find(".together", dialog), field = find("[name=together]", box);
  const captions = [...rows.keys()].filter((row) => row.fitsAlbum).map((row) => find("[name=caption]", row));
  if (albums.length && box.hidden) field.value ||= captions.find((one) => one.value)?.value || "";
  if (!albums.length && !box.hidden && captions.length) {
    captions[0].value ||= field.value;
    field.value = "";
  }
  box.hidden = !albums.length;
  for (const row of rows.keys()) find("[name=caption]", row).hidden = albums.flat().includes(row);
  const files = [...rows].filter(([row]) => row.fitsAlbum).map(([, file]) => file);
  const isWhole = albums.length && albums[0].length === files.length;
  find(".hint", box).textContent = isWhole ? `${numberOf(files)}, sent together as an album.` : `${numberOf(files)}, sent as several messages. An album can have ${mostParts} of them, and ${sizeOf(most)} in all.`;
}

// option shows or hides an option, depending on the files.
function option(name, suits) {
  const label = find(`[data-for=${name}]`, dialog);
  label.hidden = !suits;
  if (!suits) find("input", label).checked = false;
}

function change(event) {
  const row = event.target.closest(".file-row");
  const on = (selector) => event.target.closest(selector);
  if (on("[data-close]")) dialog.close();
  if (on("[data-add]")) form.elements.file.click();
  if (!row) return;
  if (on("[data-up]")) row.previousElementSibling?.before(row);
  if (on("[data-down]")) row.nextElementSibling?.after(row);
  if (on("[data-remove]")) {
    const next = row.nextElementSibling || row.previousElementSibling;
    rows.delete(row);
    row.remove();
    if (next) find("[data-remove]", next).focus();
    else dialog.close();
  }
  count();
  const moved = on("[data-up], [data-down]");
  if (moved) (moved.disabled ? find("[data-up]:enabled, [data-down]:enabled", row) : moved)?.focus();
}

function send() {
  const { as, once, gif, at, together } = Object.fromEntries(new FormData(find("form", dialog)));
  const answered = reply();
  const groups = messages();
  const first = groups.find((group) => group.length > 1); // the album that has the caption
  const items = groups.map((group, i) => {
    const files = group.map((row) => rows.get(row));
    const isAlbum = files.length > 1;
    return {
      files, name: isAlbum ? numberOf(files) : files[0].name, size: sizeOf(files.reduce((sum, file) => sum + file.size, 0)),
      picture: group.find((row) => row.picture)?.picture, album: isAlbum ? files.map((file) => (isVideo(file) ? "video" : "image")).join(" ") : "",
      text: (!isAlbum ? find("[name=caption]", group[0]).value : group === first ? together : "").trim(),
      as, once, gif: isVideo(files[0]) ? gif : "", when: at, ptt: files[0].voice, reply: i ? undefined : answered,
    };
  });
  rows.clear();
  dialog.close();
  unreply();
  for (const item of items) outbox.add(item);
}

const hasFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");

eachChat(() => {
  form = find("[data-file-form]");
  if (!form) return;
  dialog = find("#files");
  list = find(".file-list", dialog);
  most = Number(form.dataset.most) || Infinity;
  mostParts = Number(form.dataset.album);
  rows.clear();
  const drop = find("#drop");
  const input = form.elements.file;
  let depth = 0;
  input.multiple = true;
  let asDocuments = false;
  for (const button of all("[data-choose]")) {
    button.addEventListener("click", () => {
      input.accept = button.dataset.choose;
      asDocuments = !input.accept;
      input.click();
    });
  }
  input.addEventListener("change", () => {
    offer([...input.files], asDocuments);
    asDocuments = false;
    input.value = "";
  });
  dialog.addEventListener("click", change);
  find("[name=as]", dialog).addEventListener("change", count);
  dialog.addEventListener("close", () => {
    if (dialog.open) return; // again, for other files
    empty();
    toField();
  });
  find("form", dialog).addEventListener("submit", (event) => {
    event.preventDefault();
    if (rows.size) send();
  });
  chat.section.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth++;
    drop.hidden = false;
  });
  chat.section.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  chat.section.addEventListener("dragleave", (event) => {
    if (hasFiles(event) && --depth <= 0) drop.hidden = true;
  });
  chat.section.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    drop.hidden = true;
    offer([...event.dataTransfer.files]);
  });
});

document.addEventListener("paste", (event) => {
  if (!form || !event.clipboardData.files.length || event.clipboardData.getData("text/plain")) return; // some programs copy a picture along with a text
  event.preventDefault();
  offer([...event.clipboardData.files]);
});
