/** The field tables as a page of Markdown. */
import type { WireName } from "../../contract/domain/Wire.ts"
import { answerFields } from "./AnswerFields.ts"
import { cellOf, type FieldRow } from "./FieldTable.ts"
import { requestFields } from "./RequestFields.ts"

/** The wires of the tables, in the order they are shown. */
export const tabledWires = [
  "chat",
  "messages",
  "responses",
  "gemini",
  "ollama"
] as const satisfies ReadonlyArray<WireName>

const titles: Readonly<Record<WireName, string>> = {
  chat: "chat completions",
  messages: "messages",
  responses: "responses",
  gemini: "generative-language",
  ollama: "local-runner"
}

const notApplicable = "–"

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

/** One target: a row per concept that any other wire can express, a column per source wire. */
const renderTarget = (rows: ReadonlyArray<FieldRow>, target: WireName): string => {
  const sources = tabledWires.filter((wire) => wire !== target)
  const body = rows.flatMap((row) => {
    const cells = sources.map((source) => cellOf(row, source, target))
    const note = cells.find((cell) => cell !== null)?.note ?? ""
    if (cells.every((cell) => cell === null)) return []
    const shown = sources.map((source, index) => {
      const fate = cells[index]?.fate
      return fate === undefined ? notApplicable : `${fate} (\`${row.fields[source] ?? ""}\`)`
    })
    return line([row.concept, ...shown, note])
  })
  const head = ["Concept", ...sources.map((source) => `from ${source}`), "Note"]
  return [`### To ${target} (${titles[target]})`, "", line(head), line(head.map(() => "---")), ...body].join("\n")
}

const introduction = `# Fields between wires

A request to an upstream that speaks the client's own wire is relayed byte for byte, with another model name: every field
arrives, known or not. Between two wires a field is

- **exact**: the same meaning arrives;
- **mapped**: the nearest the other wire can express arrives. A request's mapped fields are named in the response header \`X-Gateway-Mapped\`;
- **dropped**: it does not arrive. A request's dropped fields are named in the response header \`X-Gateway-Dropped\`;
- **rejected**: the request is refused with 400, and nothing is sent.

A dash means that the wire cannot express it. This page is generated from \`src/wire/fields\`; a test checks the codecs against it.`

/** The whole page, ending in a line end. */
export const renderFieldTable = (): string =>
  [
    introduction,
    "## Requests",
    ...tabledWires.map((target) => renderTarget(requestFields, target)),
    "## Answers",
    ...tabledWires.map((target) => renderTarget(answerFields, target))
  ].join("\n\n") + "\n"
