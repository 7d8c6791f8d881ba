/**
 * A form as a JSON body, so that it is handled like every request: fields under their names, a file as its known facts. The bytes of
 * files are not in it; `upload` is their place among the uploads of the request.
 */
import { safeName } from "../../subjects/files/rules.ts"
import type { Uploads } from "../../plane/request/Uploads.ts"
import { audioSeconds } from "../../kernel/AudioDuration.ts"
import { type Json, optional } from "../../wire/json/Json.ts"
import { type FilePart, type FormProblem, repeatedField } from "./FormReader.ts"

export interface FormBody {
  readonly field: (name: string, value: string) => void
  /** The place of the file among the files. */
  readonly file: (part: FilePart) => number
  /** Null when nothing is wrong so far. */
  readonly problem: () => FormProblem | null
  readonly bytes: (uploads: Uploads) => Buffer
}

/** Most characters of all fields together. */
const maxFieldChars = 1_048_576
const maxNameChars = 256

const baseOf = (name: string): string => {
  const bracket = name.indexOf("[")
  return bracket <= 0 ? name : name.slice(0, bracket)
}

const typeName = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/

export const makeFormBody = (): FormBody => {
  const members = new Map<string, Array<Json>>()
  const files: Array<{ readonly upload: number; readonly filename: string; readonly content_type: string }> = []
  /** Fields of text, by the name before its bracket: whether it came without one. */
  const shapes = new Map<string, boolean>()
  let chars = 0
  let problem: FormProblem | null = null

  const add = (name: string, value: Json): void => {
    const values = members.get(name)
    if (values === undefined) members.set(name, [value])
    else values.push(value)
  }

  /**
   * Checks whether the field was there before: under its name, or under one that some programs read as a list or a
   * member of the same one (`model[]`).
   */
  const isRepeated = (name: string): boolean => {
    if (members.has(name)) return !name.endsWith("[]")
    const base = baseOf(name)
    const isBare = base === name
    const shape = shapes.get(base)
    if (shape === undefined) shapes.set(base, isBare)
    return (shape ?? isBare) !== isBare || (!isBare && members.has(base))
  }

  const checkName = (name: string): void => {
    if (name === "" || name.length > maxNameChars) {
      problem ??= { param: null, message: `Each part of the form needs a name of 1 to ${maxNameChars} characters.` }
    }
  }

  return {
    field: (name, value) => {
      checkName(name)
      chars += name.length + value.length
      if (chars > maxFieldChars) {
        problem ??= {
          param: name,
          message: `The fields of the form have more than ${maxFieldChars} characters together.`
        }
        return
      }
      if (isRepeated(name)) problem ??= repeatedField(name)
      add(name, value)
    },
    file: ({ contentType, filename, name }) => {
      checkName(name)
      const upload = files.length
      if (shapes.has(baseOf(name))) problem ??= repeatedField(name)
      const type = typeName.test(contentType) ? contentType.toLowerCase() : "application/octet-stream"
      const file = { upload, filename: safeName(filename ?? ""), content_type: type }
      files.push(file)
      add(name, file)
      return upload
    },
    problem: () => problem,
    bytes: (uploads) => {
      const sized = (value: Json): Json => {
        const file = files.find((known) => known === value)
        const upload = file === undefined ? undefined : uploads[file.upload]
        if (file === undefined || upload === undefined) return value
        const { bytes, head } = upload
        return { ...file, bytes, ...optional("seconds", audioSeconds(head, bytes)) }
      }
      const entries = [...members].map(([name, values]): [string, Json] => {
        const [first = null] = values
        return [name, name.endsWith("[]") || values.length > 1 ? values.map(sized) : sized(first)]
      })
      return Buffer.from(JSON.stringify(Object.fromEntries(entries)))
    }
  }
}
