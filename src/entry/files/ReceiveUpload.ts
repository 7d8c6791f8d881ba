/** Brings an upload from the socket to its file, no faster than the disk takes it. */
import type { IncomingMessage } from "node:http"
import { expiryOf, type Problem, purposeProblem, safeName } from "../../subjects/files/rules.ts"
import { BodyNotDecoded } from "../../contract/domain/Errors.ts"
import type { Upload } from "../../subjects/files/service.ts"
import { bodyOf } from "../listening/ContentCodings.ts"
import { type Form, read } from "./UploadForm.ts"

interface About {
  readonly filename: string
  readonly purpose: string
  readonly keptMs: number | null
}

/** Problem of an upload, or of the time at which it came. */
export type ReceiveProblem = Problem | BodyNotDecoded | "too_large" | "quota" | "stopping"

export type Outcome = { readonly upload: Upload } & (
  | { readonly _tag: "Received"; readonly about: About }
  | { readonly _tag: "Refused"; readonly problem: ReceiveProblem }
  /** The disk failed. */
  | { readonly _tag: "Failed"; readonly cause: unknown }
  /** The client left. */
  | { readonly _tag: "Gone" }
)

/** Fields may be before or after the file, so they are looked at when the form is whole. */
const aboutOf = ({ fields, filename }: Form): About | Problem => {
  if (filename === null) return { param: "file", message: "The form has no part named 'file'." }
  const purpose = fields.get("purpose")
  const problem = purposeProblem(purpose)
  if (problem !== null) return problem
  const keptMs = expiryOf(fields.get("expires_after[anchor]"), fields.get("expires_after[seconds]"))
  if (typeof keptMs === "object" && keptMs !== null) return keptMs
  return { filename: safeName(filename), purpose: purpose ?? "", keptMs }
}

export interface Receiving {
  readonly contentType: string
  readonly limitBytes: number
  readonly upload: Upload
  /** Tells of the gateway's stop, until the returned function is called. */
  readonly onStop: (listener: () => void) => () => void
}

/** `done` is called once. */
export const receive = (
  request: IncomingMessage,
  { contentType, limitBytes, onStop, upload }: Receiving,
  done: (outcome: Outcome) => void
): void => {
  const body = bodyOf(request)
  let isOver = false
  let noLongerStop = (): void => {}
  const finish = (outcome: Outcome): void => {
    if (isOver) return
    isOver = true
    noLongerStop()
    done(outcome)
  }
  const refuse = (problem: ReceiveProblem): void => finish({ _tag: "Refused", problem, upload })
  const parser = read(contentType, limitBytes, {
    chunk: (chunk) => {
      if (isOver) return
      const taken = upload.write(chunk)
      if (taken === null) refuse("quota")
      else if (!taken) body.pause()
    },
    problem: refuse,
    done: (form) => {
      const about = aboutOf(form)
      if ("message" in about) refuse(about)
      else finish({ _tag: "Received", about, upload })
    }
  })
  noLongerStop = onStop(() => refuse("stopping"))
  upload.onDrain(() => body.resume())
  upload.onFailure((cause) => finish({ _tag: "Failed", cause, upload }))
  body.on("data", (chunk: Buffer) => {
    if (!isOver) parser.write(chunk)
  })
  body.on("end", () => parser.end())
  body.on("error", (cause) => {
    if (cause instanceof BodyNotDecoded) refuse(cause)
  })
  body.on("close", () => finish({ _tag: "Gone", upload }))
  if (request.destroyed && !request.complete) finish({ _tag: "Gone", upload })
}
