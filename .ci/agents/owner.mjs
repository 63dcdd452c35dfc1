// The owner of a bridge with a browser: they log in to the console and answer when a program asks for
// access.
export class Owner {
  cookies = new Map();

  constructor(token) {
    this.token = token;
  }

  async open(url, form) {
    const answer = await fetch(url, {
      method: form ? "POST" : "GET",
      body: form && new URLSearchParams(form),
      headers: { "Sec-Fetch-Site": "same-origin", Cookie: [...this.cookies].map((one) => one.join("=")).join("; ") },
      redirect: "manual",
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, value] = cookie.split(";")[0].split("=");
      this.cookies.set(name, value);
    }
    return { status: answer.status, to: answer.headers.get("Location"), body: await answer.text() };
  }

  // consents follows a program's link and returns the address that the browser is sent to then.
  async consents(link, answer) {
    let page = await this.open(link);
    if (page.to) {
      const login = new URL(page.to, link);
      const form = await this.open(login);
      const next = await this.open(new URL("/login", link), { csrf: field(form.body, "csrf"), next: field(form.body, "next"), token: this.token });
      page = await this.open(new URL(next.to, link));
    }
    const form = new URLSearchParams({ csrf: field(page.body, "csrf"), request: field(page.body, "request"), decision: "allow", rights: answer.rights });
    answer.chats.forEach((chat) => form.append("chats", chat));
    const done = await this.open(new URL("/console/authorize", link), form);
    if (done.status !== 303) throw new Error(`not granted: ${done.status} ${done.body}`);
    return new URL(done.to);
  }
}

const entities = { amp: "&", lt: "<", gt: ">", "#34": '"', "#39": "'", "#43": "+" };

function field(page, name) {
  const found = page.match(new RegExp(`name="${name}" value="([^"]*)"`));
  if (!found) throw new Error(`the page has no field ${name}: ${page}`);
  return found[1].replace(/&(#?\w+);/g, (all, entity) => entities[entity] ?? all);
}
