// The emoji of emoji.txt, and searching them.

let groups;

// load returns the emoji by group.
export async function load() {
  if (groups) return groups;
  const answer = await fetch(new URL("./emoji.txt", import.meta.url));
  if (!answer.ok) throw new Error(answer.statusText);
  groups = (await answer.text()).split(/^# /m).slice(1).map((part) => {
    const [name, ...lines] = part.trim().split("\n");
    return {
      name,
      emoji: lines.map((line) => {
        const [sign, words] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
        return { sign, name: words.split(";")[0], words: words.toLowerCase() };
      }),
    };
  });
  return groups;
}

// search returns the loaded emoji whose names or keywords have words that begin with the words
// of a query. Emoji whose name begins with the query come first.
export function search(query) {
  const wanted = query.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const matches = groups.flatMap((group) => group.emoji).filter((one) => {
    const words = one.words.split(/[^\p{L}\p{N}]+/u);
    return wanted.every((start) => words.some((word) => word.startsWith(start)));
  });
  const rank = (one) => (one.name.toLowerCase().startsWith(query.trim().toLowerCase()) ? 0 : 1);
  return matches.sort((one, other) => rank(one) - rank(other));
}
