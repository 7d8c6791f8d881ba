/** Each form of a provider is written down with the page that documents it and when that was read: a page that changed later is no riddle. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

const wire = fileURLToPath(new URL("../../src/wire/media", import.meta.url))

const kinds = [
  "embeddings",
  "rerank",
  "images",
  "imageEdits",
  "speech",
  "transcriptions",
  "videos",
  "music",
  "jobs",
  "search"
]

interface Source {
  readonly path: string
  readonly text: string
}

const sources: ReadonlyArray<Source> = readdirSync(wire, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && [...kinds, "Moderations.ts"].some((kind) => path.startsWith(kind)))
  .map((path) => ({ path, text: readFileSync(join(wire, path), "utf8") }))

/** A date with its month, such as 2026-11. */
const date = /\b20\d\d-(?:0[1-9]|1[0-2])\b/
const comments = (text: string): string => (text.match(/\/\*\*[\s\S]*?\*\/|\/\/.*$/gm) ?? []).join("\n")
/** Addresses of documentation: prices and standards are no forms. */
const pages = (text: string): ReadonlyArray<string> =>
  (comments(text).match(/https:\/\/[^\s),`]+/g) ?? []).filter((page) => !/pricing|credits|www\.w3\.org/.test(page))

/** Lists of adapters, and what several of them share. */
const noForms: ReadonlySet<string> = new Set(["index.ts", "Vectors.ts"])

const isAdapter = ({ path }: Source): boolean =>
  /\/(?:adapters|clients)\/|^music\/Suno/.test(path) && !noForms.has(basename(path))

/** Where the form of each provider is. */
const forms: Readonly<Record<string, readonly [file: string, page: string]>> = {
  "OpenAI: embeddings": ["embeddings/Codec.ts", "developers.openai.com"],
  "OpenAI: pictures": ["images/Request.ts", "developers.openai.com"],
  "OpenAI: changed pictures": ["imageEdits/Request.ts", "developers.openai.com"],
  "OpenAI: speech": ["speech/Request.ts", "developers.openai.com"],
  "OpenAI: transcriptions": ["transcriptions/Request.ts", "developers.openai.com"],
  "OpenAI: moderations": ["Moderations.ts", "developers.openai.com"],
  "OpenAI: jobs": ["jobs/OpenAiStyle.ts", "developers.openai.com"],
  "Cohere: embeddings": ["embeddings/Request.ts", "docs.cohere.com"],
  "Cohere: rerank": ["rerank/Request.ts", "docs.cohere.com"],
  "Voyage: embeddings": ["embeddings/Request.ts", "docs.voyageai.com"],
  "Voyage: rerank": ["rerank/Request.ts", "docs.voyageai.com"],
  "Jina: embeddings": ["embeddings/Request.ts", "jina.ai"],
  "Jina: rerank": ["rerank/Request.ts", "jina.ai"],
  "Gemini: embeddings": ["embeddings/Request.ts", "ai.google.dev"],
  "Gemini: pictures": ["images/adapters/Gemini.ts", "ai.google.dev"],
  "Gemini: changed pictures": ["imageEdits/Gemini.ts", "ai.google.dev"],
  "ElevenLabs: speech": ["speech/Request.ts", "elevenlabs.io"],
  "ElevenLabs: transcriptions": ["transcriptions/Request.ts", "elevenlabs.io"],
  "Deepgram: speech": ["speech/Request.ts", "developers.deepgram.com"],
  "Deepgram: transcriptions": ["transcriptions/Request.ts", "developers.deepgram.com"],
  AssemblyAI: ["transcriptions/AssemblyAi.ts", "assemblyai.com"],
  "Stability: pictures": ["images/adapters/Stability.ts", "stability.ai"],
  "Stability: changed pictures": ["imageEdits/Stability.ts", "stability.ai"],
  "Black Forest Labs": ["images/adapters/BlackForestLabs.ts", "bfl.ai"],
  Replicate: ["images/adapters/Replicate.ts", "replicate.com"],
  fal: ["images/adapters/Fal.ts", "fal.ai"],
  Runway: ["videos/adapters/Runway.ts", "runwayml.com"],
  Suno: ["music/Suno.ts", "docs.sunoapi.org"],
  "NVIDIA: rerank": ["rerank/Request.ts", "docs.api.nvidia.com"],
  "SD WebUI": ["images/adapters/SdWebUi.ts", "github.com/AUTOMATIC1111"],
  ComfyUI: ["images/adapters/ComfyUi.ts", "docs.comfy.org"]
}

describe("forms of providers", () => {
  it("are found", () => {
    assert.isAbove(sources.length, 60)
    assert.isAbove(sources.filter(isAdapter).length, 25)
  })

  it("name the page that documents them, and when it was read, in every adapter", () => {
    const without = sources.filter(
      (source) => isAdapter(source) && !(pages(source.text).length > 0 && date.test(comments(source.text)))
    )
    assert.deepStrictEqual(
      without.map(({ path }) => path),
      []
    )
  })

  it("have a date wherever a page is named", () => {
    const undated = sources.filter(({ text }) => pages(text).length > 0 && !date.test(comments(text)))
    assert.deepStrictEqual(
      undated.map(({ path }) => path),
      []
    )
  })

  for (const [provider, [file, page]] of Object.entries(forms)) {
    it(`are there for ${provider}`, () => {
      const text = sources.find(({ path }) => path === file)?.text ?? ""
      assert.isTrue(
        pages(text).some((address) => address.includes(page)),
        `${file} names no page of ${page}`
      )
    })
  }
})
