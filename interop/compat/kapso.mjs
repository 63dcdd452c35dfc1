// @kapso/whatsapp-cloud-api as a client of the Cloud API.
import { WhatsAppClient } from "@kapso/whatsapp-cloud-api";
import { normalizeWebhook, verifySignature } from "@kapso/whatsapp-cloud-api/server";
import { listen, textOf } from "./demo.mjs";

// kapso opens the client. Its handler verifies signatures; the challenge is the program's.
export async function kapso({ url, account, token, secret, verifyToken, inbox }) {
  const client = new WhatsAppClient({ baseUrl: url, accessToken: token });
  const about = { phoneNumberId: account };
  const receiver = await listen(async (request, response) => {
    const query = new URL(request.url, "http://receiver").searchParams;
    if (request.method === "GET") return response.end(query.get("hub.verify_token") === verifyToken ? query.get("hub.challenge") : "");
    const rawBody = await textOf(request);
    if (!verifySignature({ appSecret: secret, rawBody, signatureHeader: request.headers["x-hub-signature-256"] })) return response.writeHead(401).end();
    const { messages, statuses } = normalizeWebhook(JSON.parse(rawBody));
    for (const message of messages) inbox.put({ message });
    for (const { recipientId, ...status } of statuses) inbox.put({ status: { ...status, recipient_id: recipientId } });
    response.end();
  });
  const id = (answer) => answer.messages[0].id;
  return {
    receiver,
    statuses: true,
    echoes: true,
    text: async (to, body) => id(await client.messages.sendText({ ...about, to: `+${to}`, body })),
    reply: (to, contextMessageId, body) => client.messages.sendText({ ...about, to, body, contextMessageId }),
    read: (messageId) => client.messages.markRead({ ...about, messageId, typingIndicator: { type: "text" } }),
    react: (to, messageId, emoji) => client.messages.sendReaction({ ...about, to, reaction: { messageId, emoji } }),
    choices: (to, bodyText, titles) => client.messages.sendInteractiveButtons({ ...about, to, bodyText, buttons: Object.entries(titles).map(([id, title]) => ({ id, title })) }),
    contact: (to, formattedName, waId) => client.messages.sendContacts({ ...about, to, contacts: [{ name: { formattedName, firstName: "Ada" }, phones: [{ phone: `+${waId}`, type: "CELL", waId }] }] }),
    upload: async (file, type, fileName) => (await client.media.upload({ ...about, type: "image", file: new Blob([file], { type }), fileName })).id,
    picture: (to, id, caption) => client.messages.sendImage({ ...about, to, image: { id, caption } }),
    download: (mediaId) => client.media.download({ ...about, mediaId, auth: "always" }),
    template: (to) => client.messages.sendTemplate({ ...about, to, template: { name: "hello_world", language: { code: "en_US" } } }).then(id, (error) => error.code),
  };
}
