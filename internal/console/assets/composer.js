// The composer of a chat: texts, replies, reactions, files.
import { all, ask, find, randomKey, toast } from "./base.js";
import { chat, newest } from "./chat.js";

// key returns the form's key, which is made anew after each send.
const renew = (form) => {
  const field = form.elements.key || form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name: "key" }));
  field.value = randomKey();
  return field.value;
};

const say = find("form.say");

function replyTo(id, sender, text) {
  say.elements.reply.value = id;
  find("#replying").hidden = !id;
  find("[data-sender]", say).textContent = sender;
  find("[data-quote]", say).textContent = text;
  if (id) say.elements.text.focus();
}

function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = area.scrollHeight + 2 + "px";
}

document.addEventListener("click", (event) => {
  const reply = event.target.closest("[data-reply]");
  const react = event.target.closest("[data-react]");
  const menu = event.target.closest("details.menu");
  if (reply && say) {
    event.preventDefault();
    const message = reply.closest(".msg");
    if (menu) menu.open = false;
    replyTo(reply.dataset.reply, reply.dataset.sender, (find(".text", message)?.firstChild?.textContent || find(".doc strong, .card-part strong, h3", message)?.textContent || "").trim());
  }
  if (react && find("#picker")) {
    event.preventDefault();
    if (find(".picker", menu)) return;
    const picker = find("#picker").content.cloneNode(true).firstElementChild;
    picker.elements.react.value = react.dataset.react;
    find(".menu-box", menu).prepend(picker);
    find("button", picker).focus();
  }
  if (event.target.closest("[data-unreply]") && say) {
    event.preventDefault();
    replyTo("", "", "");
  }
  const extras = event.target.closest("[data-extras]");
  if (extras) {
    const box = find("#extras");
    box.open = !box.open;
    extras.setAttribute("aria-expanded", box.open);
  }
  if (event.target.closest("[data-copy]") && menu) menu.open = false;
});

if (say) {
  find("[data-extras]").hidden = false;
  const area = say.elements.text;
  const draft = "draft " + location.pathname;
  area.value = area.value || sessionStorage.getItem(draft) || "";
  area.addEventListener("input", () => {
    grow(area);
    sessionStorage.setItem(draft, area.value);
    const line = find("#extras .curl code");
    const body = JSON.stringify({ jid: chat.dataset.chat, text: area.value || "Hello" }).replaceAll("'", "'\\''");
    if (line) line.textContent = line.textContent.replace(/-d '[^]*' "\$BRIDGE/, () => `-d '${body}' "$BRIDGE`);
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !matchMedia("(pointer: coarse)").matches) {
      event.preventDefault();
      say.requestSubmit();
    }
    if (event.key === "Escape" && say.elements.reply.value) replyTo("", "", "");
  });
}

// send posts a form. Where no answer came, the same key goes again: what arrived
// is not sent twice.
async function send(form, submitter) {
  const kind = form.dataset.send;
  let body = new FormData(form, submitter);
  if (kind === "text" && !body.get("text").trim()) return;
  if (kind === "file") {
    const file = body.get("file"); // behind what describes it
    body.delete("file");
    body.append("file", file);
  } else body = new URLSearchParams(body);
  const text = form.elements.text?.value, chosen = form.elements.file?.files[0];
  if (kind === "text") {
    form.elements.text.value = "";
    sessionStorage.removeItem("draft " + location.pathname);
    grow(form.elements.text);
  }
  const key = body.get("key") || renew(form);
  body.set("key", key);
  if (kind === "file") {
    const file = body.get("file");
    body.delete("file");
    body.append("file", file);
  }
  renew(form);
  const buttons = kind === "text" ? [] : all("button", form);
  buttons.forEach((button) => (button.disabled = true));
  if (kind === "file") toast("Sending the file …");
  try {
    await again(() => ask(form.action, body));
    if (kind === "text") replyTo("", "", "");
    if (kind === "react") form.closest("details.menu").open = false;
    if (kind === "reset" || kind === "file") {
      if (form.elements.file?.files[0] === chosen) { // else the next file is chosen already
        form.reset();
        find("#extras").open = false;
      }
      toast("Sent");
    }
    newest();
  } catch (failure) {
    toast(failure.message, true);
    if (kind === "text" && !form.elements.text.value) {
      form.elements.text.value = text;
      grow(form.elements.text);
    }
  }
  buttons.forEach((button) => (button.disabled = false));
}

// again repeats a call that got no answer.
async function again(call, times = 3) {
  for (let i = 1; ; i++) {
    try {
      return await call();
    } catch (failure) {
      const passes = failure.unreached || failure.status === 503 || failure.status === 504;
      if (!passes || i === times) throw failure;
      await new Promise((resolve) => setTimeout(resolve, i * 1000));
    }
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-send]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

// Files by drag and by paste

function sendFiles(files) {
  const form = find('form[data-send="file"]');
  if (!form || !files.length) return;
  const transfer = new DataTransfer();
  transfer.items.add(files[0]);
  form.elements.file.files = transfer.files;
  all("button", form).forEach((button) => (button.disabled = false)); // the one before may still be on its way
  find("#extras").open = true;
  form.closest("details").open = true;
  form.elements.caption.focus();
  toast(files[0].name + ": add a caption, or press Enter");
}

if (chat && find("#drop")) {
  const drop = find("#drop");
  let depth = 0;
  const hasFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
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
    sendFiles(event.dataTransfer.files);
  });
  document.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) {
      event.preventDefault();
      sendFiles(event.clipboardData.files);
    }
  });
}
