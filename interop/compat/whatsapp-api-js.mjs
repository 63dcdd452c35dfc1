// whatsapp-api-js as a client of the Cloud API. The address of Meta is built in; its
// setting for another fetch leads elsewhere.
import { ActionButtons, Body, Button, Contacts, Image, Interactive, Name, Phone, Reaction, Template, Text } from "whatsapp-api-js/messages";
import { WhatsAppAPI } from "whatsapp-api-js/middleware/node-http";
import { listen } from "./demo.mjs";

// whatsappApiJs opens the client. Its handlers take Node's requests as they are.
export async function whatsappApiJs({ url, account, token, secret, verifyToken, inbox }) {
  const elsewhere = (resource, options) => fetch(String(resource).replace("https://graph.facebook.com", url), options);
  const api = new WhatsAppAPI({ token, appSecret: secret, webhookVerifyToken: verifyToken, v: "v24.0", ponyfill: { fetch: elsewhere } });
  api.on.message = ({ message }) => inbox.put({ message });
  api.on.status = ({ raw }) => inbox.put({ status: raw.entry[0].changes[0].value.statuses[0] });
  const receiver = await listen(async (request, response) => {
    if (request.method === "GET") return response.end(api.handle_get(request));
    response.writeHead(await api.handle_post(request)).end();
  });
  const send = async (to, message, context) => {
    const answer = await api.sendMessage(account, to, message, context);
    if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
    return answer.messages[0].id;
  };
  return {
    receiver,
    statuses: true,
    text: (to, body) => send(to, new Text(body)),
    reply: (to, id, body) => send(to, new Text(body), id),
    read: (id) => api.markAsRead(account, id, "text"),
    react: (to, id, emoji) => send(to, emoji ? new Reaction(id, emoji) : new Reaction(id)),
    choices: (to, text, titles) => send(to, new Interactive(new ActionButtons(...Object.entries(titles).map(([id, title]) => new Button(id, title))), new Body(text))),
    contact: (to, name, number) => send(to, new Contacts([new Name(name, "Ada"), new Phone(`+${number}`, "CELL", number)])),
    async upload(file, type, name) {
      const form = new FormData();
      form.set("file", new Blob([file], { type }), name);
      return (await api.uploadMedia(account, form)).id;
    },
    picture: (to, id, caption) => send(to, new Image(id, true, caption)),
    download: async (id) => (await api.fetchMedia((await api.retrieveMedia(id, account)).url)).arrayBuffer(),
    template: (to) => send(to, new Template("hello_world", "en_US")).catch((error) => error.code),
  };
}
