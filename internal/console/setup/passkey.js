// Asks this browser for the passkey of a WhatsApp account, and offers the answer to be copied. It runs in the console of
// web.whatsapp.com, because a browser uses a passkey on its own site only.
((request) => {
  const box = document.createElement("dialog");
  const text = box.appendChild(document.createElement("p"));
  const button = box.appendChild(document.createElement("button"));

  box.style.cssText = "margin: auto; padding: 24px; max-width: 22em; font: 16px/1.5 sans-serif; color: #111; background: #fff";
  button.style.cssText = "margin-top: 16px; padding: 10px 16px; font: inherit; color: #fff; background: #067647; border: 0; cursor: pointer";

  // offer shows a sentence, and a button for the next step. Browsers want a click before a passkey is used and before
  // something is copied.
  function offer(sentence, word, act) {
    text.textContent = sentence;
    button.textContent = word;
    button.onclick = act;
  }

  async function answer() {
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(request);
      const credential = JSON.stringify(await navigator.credentials.get({ publicKey }));
      offer("Copy the answer and paste it into the bridge’s page.", "Copy answer", () => copy(credential));
    } catch (failure) {
      offer(`The passkey wasn’t used: ${failure.message}`, "Try again", answer);
    }
  }

  async function copy(credential) {
    try {
      await navigator.clipboard.writeText(credential);
      offer("Copied. Paste it into the bridge’s page.", "Close", () => box.close());
    } catch { // a browser that forbids it
      const area = document.createElement("textarea");
      area.value = credential;
      text.replaceChildren("Copy this answer and paste it into the bridge’s page:", area);
      area.select();
    }
  }

  box.onclose = () => box.remove();
  offer("Use the passkey of your WhatsApp account to link the bridge.", "Use passkey", answer);
  document.body.append(box);
  box.showModal();
})({} /* WhatsApp’s request */);
