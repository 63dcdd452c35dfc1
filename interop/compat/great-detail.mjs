// @great-detail/whatsapp as a client of the Cloud API.
import { Client } from "@great-detail/whatsapp";
import { listen, textOf } from "./demo.mjs";

// greatDetail opens the client. It makes its webhook itself, by subscribing.
export async function greatDetail({ url, account, token, verifyToken, inbox }) {
  const authorized = { headers: { Authorization: `Bearer ${token}` } };
  const client = new Client({ prefixUrl: url, request: authorized });
  const about = { phoneNumberID: account };
  let secret;
  const receiver = await listen(async (request, response) => {
    const { method, headers } = request;
    if (method === "GET") {
      const registration = await client.webhook.register({ method, headers, query: Object.fromEntries(new URL(request.url, "http://receiver").searchParams) });
      return response.end(registration.verifyToken === verifyToken ? registration.accept() : "");
    }
    const event = await client.webhook.eventNotification({ method, headers, body: await textOf(request), query: {} });
    if (!(await event.checkSignature(secret))) return response.writeHead(401).end();
    const { value } = event.eventNotification.entry[0].changes[0];
    for (const message of value.messages ?? []) inbox.put({ message });
    for (const status of value.statuses ?? []) inbox.put({ status });
    response.end();
  });
  const send = async (message) => (await client.message.createMessage({ ...about, ...message }).json()).messages[0].id;
  return {
    receiver,
    statuses: true,
    async subscribe() {
      const answer = await client.subscribedApps.createSubscription({ businessAccountID: account, override_callback_uri: receiver.url, verify_token: verifyToken }).json();
      secret = answer.app_secret;
    },
    text: (to, body) => send({ to, type: "text", text: { body } }),
    reply: (to, message_id, body) => send({ to, type: "text", text: { body }, context: { message_id } }),
    read: (message_id) => client.message.createStatus({ ...about, status: "read", message_id }).json(),
    react: (to, message_id, emoji) => send({ to, type: "reaction", reaction: { message_id, emoji } }),
    choices: (to, text, titles) => send({ to, type: "interactive", interactive: {
      type: "button", body: { text }, action: { buttons: Object.entries(titles).map(([id, title]) => ({ type: "reply", reply: { id, title } })) },
    } }),
    contact: (to, formatted_name, wa_id) => send({ to, type: "contacts", contacts: [{ name: { formatted_name, first_name: "Ada" }, phones: [{ phone: `+${wa_id}`, type: "CELL", wa_id }] }] }),
    upload: async (file, mimeType, filename) => (await client.media.upload({ ...about, mimeType, file: new Blob([file], { type: mimeType }), filename }).json()).id,
    picture: (to, id, caption) => send({ to, type: "image", image: { id, caption } }),
    async download(mediaID) {
      const { url: mediaURL } = await client.media.getURL({ mediaID, ...about }).json();
      return client.media.download({ mediaURL, request: authorized }).arrayBuffer();
    },
    template: (to) => send({ to, type: "template", template: { name: "hello_world", language: { code: "en_US" } } }).catch(async (error) => (await error.response.json()).error.code),
  };
}
greatDetail.scopes = ["read", "send", "manage"];
