/**
 * Conversations of agents at work in this repository, in the forms of the five wires: what people and models say is written for these tests,
 * what tools answer are outputs of real programs. Deterministic.
 */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"

export interface Output {
  readonly command: string
  readonly text: string
}

export interface Transcript {
  readonly wire: WireName
  readonly turns: number
  readonly body: JsonObject
}

const asked = [
  "Could you please have a look at the failing build? I think it has something to do with src/store/Table.ts, but I'm not really sure about that. Please do not touch the migrations, they are already on 14 servers.",
  "I would really like to understand, basically, how many requests per second we can take at the moment. The last measurement was 1,250 on 2 cores, and it would be great if you could just check whether that is still the case.",
  "It seems that the page https://example.com/docs/setup?lang=en#install is out of date. Can you actually check what package.json says, and maybe change the text so that it is a little bit easier to read for new people?",
  "Thanks, that is very helpful. However, the number in line 42 looks wrong to me: it should be 30 seconds and not 300. Please never change a timeout without a test for it.",
  "I am not able to reproduce this on my own machine, which is quite strange. In order to find out what is going on, it would probably be best to look at the logs of the last 24 hours first.",
  "Okay, go on. Just make sure that you don't push anything to origin/main without asking me, because the release 2.7.1 is planned for tomorrow at 09:00.",
  "What I want in the end is a small function in src/kernel/Tar.ts that reads at most 64 MiB and fails with a clear error otherwise. It should of course not depend on anything outside of the folder.",
  "Please also write down in CHANGELOG.md what has been changed, in one or two sentences, so that people who run the gateway are able to see it. There is no need to mention the tests.",
  "Ich glaube, dass das eigentlich mit der Datei src/http/Listener.ts zu tun hat, aber ich bin nicht ganz sicher. Kannst du bitte einfach mal nachsehen, ob der Wert 8080 noch stimmt? Bitte ändere nichts an den Tests.",
  "La verdad es que el archivo docs/cache.md no es muy claro para los usuarios que empiezan. ¿Puedes por favor mirar si los 5 ejemplos que están en la página todavía funcionan? No cambies las rutas."
]

const said = [
  "I will start by looking at the state of the repository, so that I know what has been changed and what has not.",
  "The output is quite long, but the interesting part is at the end of it. It is worth noting that nothing in src/wire was touched. The other lines are what I expected to see. I will look at the second file now, since that is where the value comes from.",
  "That is strange. The command returned without an error, and the file is there, but its size is 0 bytes. My best guess at the moment is that the process was stopped while it was writing. We should use a temporary file and rename it afterwards, because a rename is atomic. I will check whether there is a helper for that in src/kernel before I write a new one.",
  "I found it. In `readAll` the limit is compared with the number of characters instead of the number of bytes, therefore a text of 40,000 characters in Japanese is let through although it has 120,000 bytes. The fix is a single line. I have not changed anything else, and the tests that were green before are still green.\n\nAs an aside, the names in that file are easy to read, and the comments were a great help while I was searching for the reason. It was interesting to see how the parts fit together. The history of the file shows that it was split in two some weeks ago.\n\nNext I am going to run the tests of the folder once more, then write the line for the changelog.",
  "Here is what I would do:\n\n1. Keep the interface as it is, because 3 other modules import it.\n2. Move the check to the beginning of the function.\n3. Add a test with exactly 65,536 bytes, and one with 65,537.\n\nDo you agree, or should I leave the check where it is?",
  "The measurement shows 1,312 requests per second at a median of 11.4 ms, so there is no regression. The 99th percentile was 38 ms. I repeated it 5 times, and the numbers were within 3 % of each other. I would not read too much into the difference to the last one, as the machine was a little bit busy at the time.",
  "Let me see what the log says about it.",
  "The documentation at https://example.com/api/v2/limits#bodies says that a body may have 10 MB. We refuse it at 8 MB, which is probably the reason for the 413. I can't see any place where that was decided, so it may simply be an old default. Unless you have something against it, I will make it a setting.\n\n```ts\nexport const mostBytes = 10 * 1_048_576\n```\n\nThat is really all that is needed. The rest of the code reads the value from there.",
  "Done. The file was written, and the check passes."
]

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

type Event =
  | { readonly type: "user" | "assistant"; readonly text: string }
  | { readonly type: "tool"; readonly id: string; readonly output: Output }

const turnsOf: Readonly<Record<WireName, (event: Event) => ReadonlyArray<JsonObject>>> = {
  chat: (event) => {
    if (event.type !== "tool") return [{ role: event.type, content: event.text }]
    const call = { name: "bash", arguments: JSON.stringify({ command: event.output.command }) }
    return [
      { role: "assistant", content: null, tool_calls: [{ id: event.id, type: "function", function: call }] },
      { role: "tool", tool_call_id: event.id, content: event.output.text }
    ]
  },
  messages: (event) => {
    if (event.type !== "tool") return [{ role: event.type, content: [{ type: "text", text: event.text }] }]
    const input = { command: event.output.command }
    return [
      { role: "assistant", content: [{ type: "tool_use", id: event.id, name: "Bash", input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: event.id, content: event.output.text }] }
    ]
  },
  responses: (event) => {
    if (event.type !== "tool") {
      const type = event.type === "user" ? "input_text" : "output_text"
      return [{ type: "message", role: event.type, content: [{ type, text: event.text }] }]
    }
    const args = JSON.stringify({ command: ["bash", "-lc", event.output.command] })
    return [
      { type: "function_call", call_id: event.id, name: "shell", arguments: args },
      { type: "function_call_output", call_id: event.id, output: event.output.text }
    ]
  },
  gemini: (event) => {
    if (event.type !== "tool") {
      return [{ role: event.type === "user" ? "user" : "model", parts: [{ text: event.text }] }]
    }
    const { command, text } = event.output
    return [
      { role: "model", parts: [{ functionCall: { name: "run_shell_command", args: { command } } }] },
      {
        role: "user",
        parts: [{ functionResponse: { name: "run_shell_command", response: { output: text } } }]
      }
    ]
  },
  ollama: (event) => {
    if (event.type !== "tool") return [{ role: event.type, content: event.text }]
    const call = { function: { name: "bash", arguments: { command: event.output.command } } }
    return [
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_name: "bash", content: event.output.text }
    ]
  }
}

const memberOf: Readonly<Record<WireName, string>> = {
  chat: "messages",
  messages: "messages",
  responses: "input",
  gemini: "contents",
  ollama: "messages"
}

const at = <A>(list: ReadonlyArray<A>, index: number): ReadonlyArray<A> => list.slice(index % list.length).slice(0, 1)

/** A question, remarks and calls of tools in turn, and at the end a question that is still to be answered. */
const eventsOf = (outputs: ReadonlyArray<Output>, number: number, rounds: number): ReadonlyArray<Event> => {
  const texts = (type: "user" | "assistant", list: ReadonlyArray<string>, index: number): ReadonlyArray<Event> =>
    at(list, index).map((text) => ({ type, text }))
  const tool = (round: number): ReadonlyArray<Event> => {
    // Agents run a command again now and then: each fifth is the one before the last.
    const index = number * 37 + (round % 5 === 4 ? round - 2 : round) * 13
    return at(outputs, index).map((output) => ({ type: "tool", id: `call_${number}_${round}`, output }))
  }
  const events = Array.from({ length: rounds }, (_, round): ReadonlyArray<Event> => [
    ...(round % 3 === 0 ? texts("user", asked, number + round) : []),
    ...texts("assistant", said, number * 2 + round),
    ...tool(round)
  ]).flat()
  return [...events, ...texts("assistant", said, number), ...texts("user", asked, number + 5)]
}

export const transcriptsOf = (outputs: ReadonlyArray<Output>): ReadonlyArray<Transcript> =>
  Array.from({ length: 25 }, (_, number) => wires.map((wire) => ({ wire, number })))
    .flatMap((all, number) => at(all, number))
    .map(({ number, wire }) => {
      const turns = eventsOf(outputs, number, 3 + (number % 9)).flatMap(turnsOf[wire])
      return { wire, turns: turns.length, body: { model: "m", [memberOf[wire]]: turns } }
    })
