// Files: a dialog shows chosen, dropped or pasted ones before sending.
import { all, find } from "./base.js";
import { chat } from "./chat.js";
import { reply, toField, toggleExtras, unreply } from "./composer.js";
import * as outbox from "./outbox.js";

const form = find("[data-file-form]");
const dialog = find("#files");
const list = dialog && find(".file-list", dialog);
const rows = new Map(); // files by row
const most = Number(form?.dataset.most) || Infinity; // bytes
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
    picture.close();
    return canvas;
  } catch {
    return undefined; // the icon is shown instead
  }
}

// offer adds files to the dialog, and names the ones that cannot be sent.
export function offer(files) {
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
  if (!matchMedia("(pointer: coarse)").matches) (find(".file-row:last-child [name=caption]", list) || find("[data-close]", dialog)).focus();
}

function addRow(file) {
  const row = find("#file-row").content.cloneNode(true).firstElementChild;
  find("[data-name]", row).textContent = file.name;
  find("[data-size]", row).textContent = sizeOf(file.size);
  find("[name=caption]", row).setAttribute("aria-label", "Caption for " + file.name);
  for (const way of ["up", "down"]) find(`[data-${way}]`, row).setAttribute("aria-label", `Move ${file.name} ${way}`);
  find("[data-remove]", row).setAttribute("aria-label", `Remove ${file.name}`);
  rows.set(row, file);
  list.append(row);
  thumbnail(file).then((picture) => {
    if (!picture) return;
    find(".file-thumb", row).replaceChildren(picture);
    row.picture = picture;
  });
}

function count() {
  const n = rows.size;
  const name = find(".chat-title h1")?.textContent || "this chat";
  find("#files-title").textContent = (n === 1 ? "Send a file" : `Send ${n} files`) + " to " + name;
  find("[data-go] span", dialog).textContent = n > 1 ? `Send ${n}` : "Send";
  const kinds = [...rows.values()].map((file) => (file.voice ? "voice" : file.type.split("/")[0]));
  const plain = !find("[name=as]", dialog).checked;
  option("views", plain && n && kinds.every((kind) => ["image", "video", "voice"].includes(kind)));
  option("videos", plain && kinds.includes("video"));
  find("[data-go]", dialog).disabled = !n;
  all(".file-row", list).forEach((row, i) => {
    find("[data-up]", row).disabled = !i;
    find("[data-down]", row).disabled = i === n - 1;
    for (const one of all("[data-up], [data-down]", row)) one.hidden = n === 1;
  });
}

// option shows an option if it suits the files.
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
  const { as, once, gif, at } = Object.fromEntries(new FormData(find("form", dialog)));
  const answered = reply();
  const all = [...list.children].map((row, i) => ({
    file: rows.get(row), name: rows.get(row).name, size: sizeOf(rows.get(row).size), picture: row.picture,
    text: find("[name=caption]", row).value.trim(), as, once, gif: rows.get(row).type.startsWith("video/") ? gif : "", when: at,
    ptt: rows.get(row).voice, reply: i ? undefined : answered,
  }));
  rows.clear();
  dialog.close();
  unreply();
  for (const item of all) outbox.add(item);
}

const hasFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");

if (form) {
  const drop = find("#drop");
  const input = form.elements.file;
  let depth = 0;
  input.multiple = true;
  find("[data-choose]").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    offer([...input.files]);
    input.value = "";
  });
  dialog.addEventListener("click", change);
  find("[name=as]", dialog).addEventListener("change", count);
  dialog.addEventListener("close", () => {
    rows.clear();
    list.replaceChildren();
    find("form", dialog).reset();
    find(".when", dialog).open = false;
    toField();
  });
  find("form", dialog).addEventListener("submit", (event) => {
    event.preventDefault();
    if (rows.size) send();
  });
  document.addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length || event.clipboardData.getData("text/plain")) return; // some programs copy a picture along with a text
    event.preventDefault();
    offer([...event.clipboardData.files]);
  });
  chat.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth++;
    drop.hidden = false;
  });
  chat.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  chat.addEventListener("dragleave", (event) => {
    if (hasFiles(event) && --depth <= 0) drop.hidden = true;
  });
  chat.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    drop.hidden = true;
    offer([...event.dataTransfer.files]);
  });
}
