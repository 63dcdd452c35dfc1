// @chat-adapter/whatsapp, in the bot for which it is an adapter, as a client of the Cloud
// API.
import { createMemoryState } from "@chat-adapter/state-memory";
import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { Actions, Button, Card, CardText, Chat, ConsoleLogger, emoji as emojis } from "chat";
import { listen, textOf } from "./demo.mjs";

// chatAdapter opens the client. Statuses are nothing that it hands on.
export async function chatAdapter({ url, account, token, secret, verifyToken, inbox }) {
  const logger = new ConsoleLogger("silent");
  const adapter = createWhatsAppAdapter({ apiUrl: url, accessToken: token, appSecret: secret, verifyToken, phoneNumberId: account, logger });
  const bot = new Chat({ userName: "bot", adapters: { whatsapp: adapter }, state: createMemoryState(), logger });
  bot.onDirectMessage(async (_, { raw }) => inbox.put({ message: raw.message }));
  const receiver = await listen(async (request, response) => {
    const body = request.method === "GET" ? undefined : await textOf(request);
    const answer = await bot.webhooks.whatsapp(new Request(new URL(request.url, receiver.url), { method: request.method, headers: request.headers, body }));
    response.writeHead(answer.status).end(await answer.text());
  });
  const thread = (phone) => adapter.openDM(phone);
  let file;
  return {
    receiver,
    statuses: false,
    text: async (to, text) => (await adapter.postMessage(await thread(to), text)).id,
    reply: async (to, id, text) => adapter.reply(await thread(to), id, text),
    read: (id) => adapter.markAsRead(id),
    react: async (to, id, emoji) => (emoji ? adapter.addReaction(await thread(to), id, emojis.thumbs_up) : adapter.removeReaction(await thread(to), id, emojis.thumbs_up)),
    choices: async (to, text, titles) => adapter.postMessage(await thread(to), {
      card: Card({ children: [CardText(text), Actions(Object.entries(titles).map(([id, label]) => Button({ id, label })))] }),
    }),
    // It uploads while it posts, and by a method of its own.
    upload(data, mimeType, filename) {
      file = { data, mimeType, filename };
      return adapter.uploadMedia(file);
    },
    picture: async (to, _, caption) => adapter.postMessage(await thread(to), { markdown: caption, files: [file] }),
    download: (id) => adapter.downloadMedia(id),
    refusesDownloads: /Refusing to fetch an internal attachment URL/,
    template: async (to) => adapter.sendTemplate(await thread(to), { name: "hello_world", language: "en_US" }).then((sent) => sent.id, (error) => error.errorCode),
  };
}
