/** Holds what is typed for a question, by its fields. Texts stay texts until they are sent: nothing typed is lost by being wrong. */
export const paramNames = [
  "temperature",
  "max_tokens",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "seed",
  "stop"
] as const
export type ParamName = (typeof paramNames)[number]

export interface Picture {
  readonly name: string
  /** A `data:` address. */
  readonly url: string
}

export interface Draft {
  readonly system: string
  readonly prompt: string
  readonly params: Readonly<Record<ParamName, string>>
  /** JSON. */
  readonly tools: string
  /** A JSON Schema. */
  readonly schema: string
  readonly images: ReadonlyArray<Picture>
  /** One in each line. */
  readonly documents: string
  readonly count: string
  readonly size: string
  readonly voice: string
  readonly seconds: string
  readonly file: File | null
}

export const noParams: Draft["params"] = {
  temperature: "",
  max_tokens: "",
  top_p: "",
  presence_penalty: "",
  frequency_penalty: "",
  seed: "",
  stop: ""
}

export const emptyDraft = (prompt: string): Draft => ({
  system: "",
  prompt,
  params: noParams,
  tools: "",
  schema: "",
  images: [],
  documents: "",
  count: "",
  size: "",
  voice: "",
  seconds: "",
  file: null
})

export const numberOf = (text: string): number | null =>
  text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text)

export const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

/** The parameters of a preset as texts; what is none is left out. */
export const paramsOfPreset = (json: string): Draft["params"] => {
  let read: unknown
  try {
    read = JSON.parse(json)
  } catch {
    return noParams
  }
  const values = (typeof read === "object" && read !== null ? read : {}) as Readonly<Record<string, unknown>>
  const textOf = (value: unknown): string => {
    if (Array.isArray(value)) return value.map(String).join("\n")
    return typeof value === "number" || typeof value === "string" ? String(value) : ""
  }
  return Object.fromEntries(paramNames.map((name) => [name, textOf(values[name])])) as Record<ParamName, string>
}
