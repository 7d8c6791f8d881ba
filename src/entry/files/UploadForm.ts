/** Reads the form of an uploaded file: one file, and fields about it. */
import type { Parser } from "multipasta"
import type { Problem } from "../../subjects/files/rules.ts"
import { read as members } from "../../wire/json/Members.ts"
import { makeSpelling } from "../../wire/json/Spelling.ts"
import { readForm, repeatedField } from "../forms/FormReader.ts"

export interface Form {
  readonly fields: ReadonlyMap<string, string>
  /** Name of the file, as the client wrote it; null when none came. */
  readonly filename: string | null
}

export interface Receiver {
  readonly chunk: (chunk: Uint8Array) => void
  readonly problem: (problem: Problem | "too_large") => void
  /** The whole form was there. */
  readonly done: (form: Form) => void
}

const maxParts = 16
const maxFieldBytes = 8_192
/** Most bytes of everything of a form beside its file. */
export const formBytes = 262_144

const wrong = (message: string): Problem => ({ param: "file", message })

const misspelt = makeSpelling(
  members("file", "purpose", "expires_after", "expires_after[anchor]", "expires_after[seconds]")
)
const misspeltField = (name: string): Problem | null => {
  const found = misspelt({ [name]: true })
  return found === null ? null : { param: found.path, message: found.message }
}

/** Reads a form. At most one of `problem` and `done` is called, once. */
export const read = (contentType: string, limitBytes: number, receiver: Receiver): Parser => {
  const fields = new Map<string, string>()
  let filename: string | null = null
  let problem: Problem | null = null
  const limits = { maxParts, maxFieldBytes, maxFileBytes: limitBytes, maxOtherBytes: formBytes }
  return readForm(contentType, limits, {
    isFile: (name) => name === "file",
    field: (name, value) => {
      problem ??= fields.has(name) ? repeatedField(name) : misspeltField(name)
      fields.set(name, value)
    },
    file: (part) => {
      if (part.name !== "file") return wrong("The only file of the form must be named 'file'.")
      if (filename !== null) return wrong("The form has more than one file. Upload them one by one.")
      filename = part.filename ?? ""
      return (chunk) => {
        if (chunk !== null) receiver.chunk(chunk)
      }
    },
    problem: (problem) =>
      receiver.problem(typeof problem === "string" ? problem : { ...problem, param: problem.param ?? "file" }),
    done: () => (problem === null ? receiver.done({ fields, filename }) : receiver.problem(problem))
  })
}
