/** Forms whose fields programs read in two ways. */
import type { Answer } from "../RawHttp.ts"
import type { Arena } from "../Arena.ts"
import { type Attempt, pairs } from "../Attempt.ts"

const boundary = "----two-readings"

type Part = readonly [name: string, value: string, filename?: string]

const textOf = (parts: ReadonlyArray<Part>): string =>
  parts
    .map(([name, value, filename]) => {
      const file = filename === undefined ? "" : `; filename="${filename}"\r\nContent-Type: application/octet-stream`
      return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
    })
    .join("") + `--${boundary}--\r\n`

const post = ({ open }: Arena, path: string, parts: ReadonlyArray<Part>): Promise<Answer> =>
  open.send({
    method: "POST",
    path,
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body: textOf(parts)
  })

const sound: ReadonlyArray<Part> = [
  ["model", "none/m"],
  ["prompt", "Hi"],
  ["file", "RIFF", "a.wav"]
]
const picture: ReadonlyArray<Part> = [
  ["model", "none/m"],
  ["prompt", "A cat"],
  ["n", "1"],
  ["image", "PNG", "a.png"]
]
const film: ReadonlyArray<Part> = [
  ["model", "none/m"],
  ["prompt", "A cat"],
  ["seconds", "4"]
]

/** A form of each route that takes one, and its fields. */
const forms: Readonly<Record<string, readonly [ReadonlyArray<Part>, ReadonlyArray<string>]>> = {
  "/v1/audio/transcriptions": [sound, ["model", "prompt"]],
  "/v1/audio/translations": [sound, ["model", "prompt"]],
  "/v1/images/edits": [picture, ["model", "prompt", "n"]],
  "/v1/images/variations": [picture, ["model", "n"]],
  "/v1/videos": [film, ["model", "prompt", "seconds"]],
  "/v1/files": [
    [
      ["purpose", "batch"],
      ["expires_after[seconds]", "3600"],
      ["expires_after[anchor]", "created_at"],
      ["file", "{}", "a.jsonl"]
    ],
    ["purpose", "expires_after[seconds]"]
  ]
}

/** The field again: its name, and where the form has it. */
const again: Readonly<Record<string, (name: string) => readonly [string, "behind" | "before"]>> = {
  "twice, the second behind all": (name) => [name, "behind"],
  "twice, the second before all": (name) => [name, "before"],
  "in capitals": (name) => [name.toUpperCase(), "behind"],
  "with a capital, before it": (name) => [name.replace(/[a-z]/, (letter) => letter.toUpperCase()), "before"]
}

const fields = Object.entries(forms).flatMap(([path, [parts, names]]) =>
  pairs(names, Object.entries(again)).map(([name, [way, other]]): Attempt => ({
    name: `${path}: the field ${name} ${way}`,
    run: async (arena) => {
      const [spelt, place] = other(name)
      const more: Part = [spelt, "1"]
      const { status, text } = await post(arena, path, place === "behind" ? [...parts, more] : [more, ...parts])
      return status === 400 && text.includes(spelt) ? null : `${status}: ${text.slice(0, 160)}`
    }
  }))
)

/** A field and a list of it, which some programs read as one. */
const lists = Object.entries(forms)
  .filter(([path]) => path !== "/v1/files")
  .flatMap(([path, [parts, names]]) =>
    pairs(names.slice(0, 1), ["[]", "[a]"]).map(([name, bracket]): Attempt => ({
      name: `${path}: the fields ${name} and ${name}${bracket}`,
      run: async (arena) => {
        const { status, text } = await post(arena, path, [...parts, [name + bracket, "1"]])
        return status === 400 && text.includes(name + bracket) ? null : `${status}: ${text.slice(0, 160)}`
      }
    }))
  )

const files: ReadonlyArray<Attempt> = [
  ["/v1/audio/transcriptions", [...sound, ["file", "RIFF", "b.wav"]]],
  ["/v1/audio/transcriptions", [["file", "text"], ...sound]],
  ["/v1/audio/transcriptions", [...sound, ["File", "RIFF", "b.wav"]]],
  ["/v1/images/edits", [...picture, ["mask", "PNG", "a.png"], ["mask", "PNG", "b.png"]]],
  [
    "/v1/files",
    [
      ["purpose", "batch"],
      ["file", "{}", "a.jsonl"],
      ["file", "{}", "b.jsonl"]
    ]
  ]
].map(([path, parts]): Attempt => ({
  name: `${String(path)}: the file ${JSON.stringify(parts)}`,
  run: async (arena) => {
    const { status, text } = await post(arena, String(path), parts as ReadonlyArray<Part>)
    return status === 400 && /file|mask/i.test(text) ? null : `${status}: ${text.slice(0, 160)}`
  }
}))

const controls = Object.entries(forms).map(([path, [parts]]): Attempt => ({
  name: `${path}: a form of one reading`,
  run: async (arena) => {
    const { text } = await post(arena, path, parts)
    return /is repeated|is spelled/.test(text) ? `refused: ${text.slice(0, 160)}` : null
  }
}))

export const formFields: ReadonlyArray<Attempt> = [...controls, ...fields, ...lists, ...files]
