/** Reads a multipart form as it arrives. What is foreign is bounded: parts, fields, and files. */
import * as Multipart from "multipasta"

/** Problem of a form, for its sender; `param` names the part. */
export interface FormProblem {
  readonly param: string | null
  readonly message: string
}

/** A part that is a file. */
export interface FilePart {
  readonly name: string
  /** Name as the client wrote it; null without one. */
  readonly filename: string | null
  readonly contentType: string
}

export interface FormLimits {
  readonly maxParts: number
  readonly maxFieldBytes: number
  /** Most bytes of all files together. */
  readonly maxFileBytes: number
  /** Most bytes of everything of the form beside its files. */
  readonly maxOtherBytes: number
}

export interface FormSink {
  /** Checks whether a part of this name is a file, also without a file name. */
  readonly isFile: (name: string) => boolean
  readonly field: (name: string, value: string) => void
  /** A file begins: takes its bytes, then null at its end. A problem refuses the form. */
  readonly file: (part: FilePart) => ((chunk: Uint8Array | null) => void) | FormProblem
  readonly problem: (problem: FormProblem | "too_large") => void
  /** The whole form was there. */
  readonly done: () => void
}

/** Longest part of a name that a message repeats. */
const maxToldChars = 100

/** A field that has one value, sent again: programs differ in which one they read. */
export const repeatedField = (name: string): { readonly param: string; readonly message: string } => {
  const param = name.slice(0, maxToldChars)
  return { param, message: `${param}: the field is repeated. Send it once.` }
}

const wrong = (message: string): FormProblem => ({ param: null, message })

const noEnd = wrong("The form has no end: the closing boundary did not come.")

const problemOf = (
  error: Multipart.MultipartError,
  { maxFieldBytes, maxParts }: FormLimits
): FormProblem | "too_large" => {
  switch (error._tag) {
    case "InvalidBoundary":
      return wrong("The Content-Type of the request has no boundary. Let your HTTP client set the header.")
    case "BadHeaders":
    case "InvalidDisposition":
      return wrong("A part of the form has headers that cannot be read.")
    case "EndNotReached":
      return noEnd
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

const ignored = (): void => {}

/** Reads a form. At most one of `problem` and `done` is called, once. */
export const readForm = (contentType: string, limits: FormLimits, sink: FormSink): Multipart.Parser => {
  let fileBytes = 0
  let isOver = false
  const refuse = (problem: FormProblem | "too_large"): void => {
    if (isOver) return
    isOver = true
    sink.problem(problem)
  }
  const parser = Multipart.make({
    headers: { "content-type": contentType },
    isFile: (info) => {
      const part = named(info)
      return part.filename !== undefined || sink.isFile(part.name)
    },
    maxParts: limits.maxParts,
    maxFieldSize: limits.maxFieldBytes,
    maxTotalSize: limits.maxFileBytes + limits.maxOtherBytes,
    onField: (info, value) => {
      if (!isOver) sink.field(named(info).name, Multipart.decodeField(info, value))
    },
    onFile: (info) => {
      if (isOver) return ignored
      const { filename = null, name } = named(info)
      const take = sink.file({ name, filename, contentType: info.contentType })
      if (typeof take !== "function") {
        refuse(take)
        return ignored
      }
      return (chunk) => {
        if (isOver) return
        fileBytes += chunk?.length ?? 0
        if (fileBytes > limits.maxFileBytes) refuse("too_large")
        else take(chunk)
      }
    },
    onError: (error) => refuse(problemOf(error, limits)),
    onDone: () => {
      if (isOver) return
      isOver = true
      sink.done()
    }
  })
  return {
    write: (chunk) => {
      if (!isOver) parser.write(chunk)
    },
    end: () => {
      if (isOver) return
      parser.end()
      // The parser says nothing of a body without a byte.
      refuse(noEnd)
    }
  }
}
