/** Lines of a batch that programs read in two ways. All of them are in one batch. */
import { setTimeout as delay } from "node:timers/promises"
import type { Arena } from "../Arena.ts"
import type { Attempt } from "../Attempt.ts"
import { once } from "../Once.ts"
import { ways, written } from "../Readings.ts"

const request = {
  model: "m",
  max_tokens: 9,
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ type: "function", function: { name: "f" } }]
}
const line = { custom_id: "c", method: "POST", url: "/v1/chat/completions", body: request }
const members =
  "custom_id method url body body.model body.max_tokens body.messages body.messages.0.role body.messages.0.content body.tools.0.function.name"

interface Line {
  readonly name: string
  readonly text: string
  readonly named: string
}

const lines: ReadonlyArray<Line> = members.split(" ").flatMap((path) =>
  ways.flatMap((way, index) => {
    const body = { ...line, custom_id: `${path} ${index}` }
    const made = written({ body }, path, way)
    return made === null ? [] : [{ name: `a line of a batch: ${path} ${way.name}`, ...made }]
  })
)

const boundary = "----lines"
const longestWaits = 300

/** What became of each line, by its place among them; a last one of one reading is there, too. */
const results = once(async ({ connection, node, open }: Arena): Promise<ReadonlyMap<number, string>> => {
  const { prefix } = await node(open, "chat")
  await connection(open, prefix)
  const { secret } = await open.must("POST", "/api/keys", { name: "lines" })
  const authorization = `Bearer ${String(secret)}`
  const all = [...lines.map(({ text }) => text), JSON.stringify({ ...line, custom_id: "sound" })]
  const content = all.join("\n").replaceAll('"m"', JSON.stringify(`${prefix}/m`))
  const part = (name: string, more = ""): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
  const ask = async (method: string, path: string, body?: string, type = "application/json"): Promise<string> => {
    const headers = { authorization, "content-type": type }
    const { status, text } = await open.send({ method, path, headers, ...(body === undefined ? {} : { body }) })
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    return text
  }
  const form = `${part("purpose")}batch\r\n${part("file", '; filename="a.jsonl"')}${content}\r\n--${boundary}--\r\n`
  const file = JSON.parse(await ask("POST", "/v1/files", form, `multipart/form-data; boundary=${boundary}`))
  const asked = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" }
  let batch = JSON.parse(await ask("POST", "/v1/batches", JSON.stringify(asked)))
  for (let waits = 0; batch.status !== "completed" && batch.status !== "failed" && waits < longestWaits; waits += 1) {
    await delay(100)
    batch = JSON.parse(await ask("GET", `/v1/batches/${batch.id}`))
  }
  const found = new Map<number, string>()
  for (const name of ["output_file_id", "error_file_id"]) {
    if (typeof batch[name] !== "string") continue
    for (const result of (await ask("GET", `/v1/files/${batch[name]}/content`)).split("\n")) {
      const number = /"id":"batch_req_[^"]*_(\d+)"/.exec(result)?.[1]
      if (number !== undefined) found.set(Number(number), result)
    }
  }
  return found
})

const isAnswered = (result: string): boolean => result.includes('"status_code":200')

export const batchLines: ReadonlyArray<Attempt> = [
  ...lines.map(({ name, named }, index): Attempt => ({
    name,
    run: async (arena) => {
      const result = (await results(arena)).get(index + 1)
      if (result === undefined) return "the line has no result"
      // A request of a line is named by its own members.
      const own = named.replace(/^body\./, "")
      const isNamed = result.includes(own) || result.includes(JSON.stringify(own).slice(1, -1))
      return !isAnswered(result) && isNamed ? null : result.slice(0, 300)
    }
  })),
  {
    name: "a line of one reading is answered",
    run: async (arena) => {
      const result = (await results(arena)).get(lines.length + 1) ?? "the line has no result"
      return isAnswered(result) ? null : result.slice(0, 300)
    }
  }
]
