// The composer of a chat: texts, drafts, replies, edits, and forms for other content.
import { again, all, ask, draftOf, find, randomKey, toast } from "./base.js";
import { formOf } from "./change.js";
import { chat, eachChat, newest } from "./chat.js";
import { isTyped } from "./live.js";
import * as mentions from "./mentions.js";
import * as outbox from "./outbox.js";

let say, area, draft; // the form of the open chat, its field, and the name of the stored text
let editing; // the form of the edited message, with its address and key

// textField returns the field of the open chat; undefined if nobody can write there.
export const textField = () => area;

// reply returns the message to answer; undefined if none.
export function reply() {
  const id = say.elements.reply.value;
  return id ? { id, sender: find("[data-sender]", say).textContent, text: find("#replying [data-quote]").textContent } : undefined;
}

// toField focuses the field, except on phones, where the keyboard would cover half the screen.
export function toField() {
  if (!matchMedia("(pointer: coarse)").matches) area.focus();
}

export function replyTo(id, sender, text) {
  if (id) stopEditing();
  say.elements.reply.value = id;
  find("#replying").hidden = !id;
  find("[data-sender]", say).textContent = sender;
  find("#replying [data-quote]").textContent = text;
  if (id) area.focus();
}

export const unreply = () => replyTo("", "", "");

// leave closes the menu of attachments or cancels a reply or an edit, and reports whether there was one.
export function leave() {
  if (find("#extras").open) toggleExtras(false);
  else if (editing) stopEditing();
  else if (say.elements.reply.value) unreply();
  else return false;
  area.focus();
  return true;
}

function write(text) {
  area.value = text;
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

function grow() {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = area.scrollHeight + 2 + "px";
}

// Editing, with a form that the bridge renders

export async function edit(query) {
  try {
    const form = await formOf(query);
    unreply();
    if (!editing) mentions.remember(draft, area.value);
    editing = form;
    find("#editing").hidden = false;
    find("#editing [data-quote]").textContent = form.elements.text.defaultValue;
    write(form.elements.text.defaultValue);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  } catch (failure) {
    if (failure.name !== "AbortError") toast(failure.message, true);
  }
}

function stopEditing() {
  if (!editing) return;
  editing = undefined;
  find("#editing").hidden = true;
  write(mentions.recalled(draft));
}

async function saveEdit() {
  const form = editing;
  const { text, jids } = mentions.sent(area.value);
  if (!text.trim()) return toast("A message can’t be empty. To remove it, delete it.", true);
  form.elements.text.value = text;
  const body = new URLSearchParams(new FormData(form));
  for (const jid of jids) body.append("mention", jid);
  const field = area;
  field.readOnly = true;
  try {
    await again(() => ask(form.action, body));
    if (editing === form) stopEditing();
    newest();
  } catch (failure) {
    form.elements.key.value = randomKey();
    toast(failure.message, true);
  }
  field.readOnly = false;
  field.focus();
}

// Actions in the menus of messages

// answer starts a reply to a message or to a picture of an album.
export function answer(message) {
  if (!say || !message?.dataset.can?.includes("reply")) return;
  const text = find(".text, figcaption > span[dir]", message)?.firstChild?.textContent || find(".doc strong, .card-part strong, h3", message)?.textContent;
  const sender = find(".sender, .bubble > .vh", message.closest(".msg")).textContent.replace(/: $/, "");
  replyTo(message.dataset.id, sender, (text || "").trim());
}

export function toggleExtras(open) {
  find("#extras").open = open;
  find("[data-extras]").setAttribute("aria-expanded", open);
  find("#composer").classList.toggle("with-extras", open);
}

document.addEventListener("click", (event) => {
  const on = (selector) => event.target.closest(selector);
  if (!say) return;
  const replies = on("[data-reply]");
  const edits = on('#message-menu a[href^="?edit="]');
  if (replies) {
    event.preventDefault();
    answer(all(".msg, .album-part", find("#messages")).find((one) => one.dataset.id === replies.dataset.reply));
  } else if (edits) {
    event.preventDefault();
    edit(edits.getAttribute("href").replace(/#.*/, ""));
  } else if (on("[data-unreply], [data-unedit]")) {
    event.preventDefault();
    leave();
  } else if (on("[data-extras]")) {
    toggleExtras(!find("#extras").open);
    if (find("#extras").open) find("[data-choose]").focus();
  } else if (find("#extras").open && !on("#extras, dialog") && !all("#extras :is(input, textarea)").some(isTyped)) {
    toggleExtras(false);
  }
});

// Texts

function sendText() {
  const written = area.value;
  if (!written.trim()) return;
  const { text, shown, jids } = mentions.sent(written);
  const answered = reply();
  write("");
  mentions.remember(draft, "");
  unreply();
  outbox.add({ text, shown, mentions: jids, reply: answered });
}

eachChat(() => {
  say = find("form.say");
  area = say?.elements.text;
  draft = draftOf(chat.path);
  editing = undefined;
  if (!say) return;
  find("[data-extras]").hidden = false;
  write(area.value || mentions.recalled(draft));
  area.addEventListener("input", () => {
    grow();
    if (!editing) mentions.remember(draft, area.value);
    const line = find("#extras .curl code");
    const body = JSON.stringify({ jid: chat.jid, text: mentions.sent(area.value).text || "Hello" }).replaceAll("'", "'\\''");
    if (line) line.textContent = line.textContent.replace(/-d '[^]*' "\$BRIDGE/, () => `-d '${body}' "$BRIDGE`);
  });
  area.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.key !== "Enter" || event.shiftKey || event.isComposing || matchMedia("(pointer: coarse)").matches) return;
    event.preventDefault();
    say.requestSubmit();
  });
  grow();
  // The form for sending later starts with the text in the composer.
  find("#later").addEventListener("toggle", (event) => {
    const field = find("textarea", event.target);
    if (!event.target.open || editing || field.value || !area.value.trim()) return;
    field.value = area.value;
    area.value = "";
    area.dispatchEvent(new Event("input", { bubbles: true })); // clears the draft
  });
});

// send posts a form of other content. Retries use the same key, so nothing is sent twice.
async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  if (!body.get("key")) body.set("key", randomKey());
  const buttons = all("button", form);
  buttons.forEach((button) => (button.disabled = true));
  try {
    const answer = await again(() => ask(form.action, body));
    if (form.elements.key) form.elements.key.value = randomKey();
    if (form.dataset.send === "reset") {
      form.reset();
      for (const one of all(".when", form)) one.open = false;
      if (form.isConnected) toggleExtras(false);
      toast(answer.text || form.dataset.done || "Sent");
    }
    newest();
  } catch (failure) {
    toast(failure.message, true);
  }
  buttons.forEach((button) => (button.disabled = false));
}

// "Send later" suggests a time while it is open. A form in the menu of attachments is brought into it.
document.addEventListener("toggle", (event) => {
  if (event.target.matches?.(".extras-box > [open]")) event.target.scrollIntoView({ block: "nearest" });
  if (event.target.matches?.(".when")) find("input", event.target).value = event.target.open ? event.target.dataset.later : "";
}, true);

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-send]")) return;
  event.preventDefault();
  if (event.target !== say) send(event.target, event.submitter);
  else if (editing) saveEdit();
  else sendText();
});
