/** Reads a multipart form with one file as it arrives. What is foreign is bounded: parts, fields, and the file. */
import * as Multipart from "multipasta"
import type { Problem } from "../../files/FileRules.ts"

export interface Form {
  readonly fields: ReadonlyMap<string, string>
  /** Of the file, as the client wrote it; null when none came. */
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
/** For everything of a form beside its file. */
export const formBytes = 262_144

const wrong = (message: string): Problem => ({ param: "file", message })

const problemOf = (error: Multipart.MultipartError): Problem | "too_large" => {
  switch (error._tag) {
    case "InvalidBoundary":
      return wrong("The Content-Type of the request has no boundary. Let your HTTP client set the header.")
    case "BadHeaders":
    case "InvalidDisposition":
      return wrong("A part of the form has headers that cannot be read.")
    case "EndNotReached":
      return wrong("The form has no end: the closing boundary did not come.")
    case "ReachedLimit":
      if (error.limit === "MaxTotalSize" || error.limit === "MaxPartSize") return "too_large"
      return wrong(`The form has more than ${maxParts} parts, or a field of more than ${maxFieldBytes} bytes.`)
  }
}

/** The parser reads parameters of latin letters only: names in other scripts come as they are, in quotes. */
const named = (info: Multipart.PartInfo): { readonly name: string; readonly filename: string | undefined } => {
  if (info.name !== "") return { name: info.name, filename: info.filename }
  const header = String(info.headers["content-disposition"] ?? "")
  return { name: /;\s?name="([^"]*)"/i.exec(header)?.[1] ?? "", filename: /;\s?filename="([^"]*)"/i.exec(header)?.[1] }
}

/** At most one of `problem` and `done` is called, once. */
export const read = (contentType: string, limitBytes: number, receiver: Receiver): Multipart.Parser => {
  const fields = new Map<string, string>()
  let filename: string | null = null
  let isOver = false
  const refuse = (problem: Problem | "too_large"): void => {
    if (isOver) return
    isOver = true
    receiver.problem(problem)
  }
  const parser = Multipart.make({
    headers: { "content-type": contentType },
    isFile: (info) => {
      const part = named(info)
      return part.name === "file" || part.filename !== undefined
    },
    maxParts,
    maxFieldSize: maxFieldBytes,
    maxTotalSize: limitBytes + formBytes,
    onField: (info, value) => {
      if (!isOver) fields.set(named(info).name, Multipart.decodeField(info, value))
    },
    onFile: (info) => {
      const part = named(info)
      if (part.name !== "file") refuse(wrong("The only file of the form must be named 'file'."))
      else if (filename !== null) refuse(wrong("The form has more than one file. Upload them one by one."))
      else filename = part.filename ?? ""
      let bytes = 0
      return (chunk) => {
        if (isOver || chunk === null) return
        bytes += chunk.length
        if (bytes > limitBytes) refuse("too_large")
        else receiver.chunk(chunk)
      }
    },
    onError: (error) => refuse(problemOf(error)),
    onDone: () => {
      if (isOver) return
      isOver = true
      receiver.done({ fields, filename })
    }
  })
  return {
    write: (chunk) => {
      if (!isOver) parser.write(chunk)
    },
    end: () => {
      if (!isOver) parser.end()
    }
  }
}
