// What people ask their agents for, solved with an agent's tools by a client without a
// model: each function uses tools by its argument, at most four times, and returns true
// or what is wrong.

async function person(use, name) {
  const { people } = await use("find_contact", { q: name });
  return people[0].jid;
}

async function hit(use, words, sender = "") {
  const { matches } = await use("search_messages", { q: words });
  return matches.find((match) => (match.senderName ?? "").includes(sender));
}

async function whole(use, found) {
  const { messages } = await use("get_message_context", { jid: found.chatJid, msgId: found.msgId, before: 0, after: 0 });
  return messages[0];
}

const tasks = {
  "what is unread?": async (use) => {
    const { chats } = await use("catch_me_up");
    return (chats.length > 0 && chats[0].unreadCount > 0 && chats[0].messages.length > 0) || JSON.stringify(chats);
  },
  "send Sofía the address that Jonas sent": async (use) => {
    const { location } = await whole(use, await hit(use, "Hauptstraße 12", "Jonas"));
    const sent = await use("send_text", { jid: await person(use, "Sofía"), text: `${location.name}, ${location.address}` });
    return Boolean(sent.msgId);
  },
  "which invoice is due?": async (use) => {
    const found = await hit(use, "invoice");
    const { text } = await use("read_file", { jid: found.chatJid, msgId: found.msgId });
    return /Invoice 4711.*due on 30 November/.test(text) || text;
  },
  "what did I miss in the hiking group?": async (use) => {
    const { chats } = await use("list_chats", { q: "Wandern", type: "group" });
    const { messages } = await use("get_chat", { jid: chats[0].jid, limit: 50 });
    return messages.some((message) => message.text.includes("See you all on Saturday")) || JSON.stringify(messages);
  },
  "what is Ayşe's number?": async (use) => {
    const { contacts } = await whole(use, await hit(use, "Ayşe"));
    return contacts[0].phones[0].number.includes("905300100199") || JSON.stringify(contacts);
  },
  "when do we leave, by the poll?": async (use) => {
    const { poll } = await whole(use, await hit(use, "hora salimos"));
    return poll.options.map((option) => option.name).join() === "8:00,9:00,10:00" || JSON.stringify(poll);
  },
  "whom do I owe an answer?": async (use) => {
    const { chats } = await use("list_chats", { unanswered: true });
    return chats.some((chat) => chat.name.includes("Jonas")) || JSON.stringify(chats);
  },
  "show me the picture of the route": async (use) => {
    const found = await hit(use, "Die Route");
    const { content } = await use("get_media", { jid: found.chatJid, msgId: found.msgId });
    return (content[0].type === "image" && content[0].data.length > 1000) || JSON.stringify(content);
  },
  "who comes along on the hike?": async (use) => {
    const { chats } = await use("list_chats", { q: "Wandern" });
    const { members } = await use("get_group", { jid: chats[0].jid });
    return (members.length === 5 && members.some((member) => member.name === "Elif Yılmaz")) || JSON.stringify(members);
  },
  "ask Jonas whether he has the tickets, and tell me what he says": async (use) => {
    const { nextCursor } = await use("wait_for_messages", { timeout: 1 });
    const jonas = await person(use, "Jonas Weber");
    await use("send_text", { jid: jonas, text: "Hast du die Karten?" });
    const { messages } = await use("wait_for_messages", { chats: [jonas], after: nextCursor, timeout: 30 });
    return messages.some((message) => message.text.includes("Hast du die Karten?")) || JSON.stringify(messages);
  },
};

// solveAll solves the tasks with a client, and calls done with each task's name, how many calls it took,
// and true or what is wrong.
export async function solveAll(client, done) {
  for (const [asked, solve] of Object.entries(tasks)) {
    let calls = 0;
    const use = async (tool, args = {}) => {
      calls++;
      const result = await client.callTool({ name: tool, arguments: args });
      if (result.isError) throw new Error(`${tool}: ${JSON.stringify(result.content)}`);
      return { ...result.structuredContent, ...result.structuredContent.untrusted, content: result.content };
    };
    const outcome = await solve(use).catch((error) => error.message);
    done(asked, calls, outcome);
  }
}
