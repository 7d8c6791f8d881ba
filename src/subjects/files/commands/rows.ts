/** Shared parts of the commands about files: the routes, the search for files, and their form for people. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Args from "@effect/cli/Args"
import * as Effect from "effect/Effect"
import { FileList, FileObject } from "../../../contract/compat/Files.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import type { Target } from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import * as Column from "../../../cli/output/Column.ts"
import { sizeText } from "../../../cli/output/Size.ts"
import { fields } from "../../../cli/output/Table.ts"

export type File = typeof FileObject.Type

export const fileArg = Args.text({ name: "file" }).pipe(
  Args.withDescription("Name or id of a file at the gateway, or the beginning of its id.")
)

export const pathOf = (id: string): string => `/v1/files/${encodeURIComponent(id)}`

export const hint = "'gateway files list' shows the files."

const isoOf = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString()

export const columns: ReadonlyArray<Column.Column<File>> = [
  Column.text("NAME", ({ filename }) => filename, { fit: "cut" }),
  Column.number("SIZE", ({ bytes }) => bytes, sizeText),
  Column.text("PURPOSE", ({ purpose }) => purpose),
  Column.time("MADE", ({ created_at: made }) => isoOf(made)),
  Column.time("EXPIRES", ({ expires_at: expires }) => isoOf(expires)),
  Column.id("ID", ({ id }) => id, { isName: true })
]

/** Most files of a page. */
const pageFiles = 10_000

interface Filter {
  readonly purpose?: string
  readonly limit?: number
}

/** A page of the caller's files, the newest first. */
export const list = (to: Target, { limit = pageFiles, purpose }: Filter = {}) => {
  const request = HttpClientRequest.get(`${to.url}/v1/files`).pipe(
    HttpClientRequest.setUrlParams({ limit: String(limit), ...(purpose === undefined ? {} : { purpose }) })
  )
  return Effect.flatMap(Inference.ask(to, request, null), Inference.jsonOf(to, FileList))
}

/** Finds the one file by its id, its name, or the beginning of its id. */
export const find = (to: Target, idOrName: string): Effect.Effect<File, CliFailure> =>
  /^file-[\da-f]{32}$/.test(idOrName)
    ? Effect.flatMap(
        Inference.ask(to, HttpClientRequest.get(`${to.url}${pathOf(idOrName)}`), hint),
        Inference.jsonOf(to, FileObject)
      )
    : Effect.flatMap(list(to), ({ data }) =>
        pick(
          "file",
          data.map((file) => ({ ...file, name: file.filename })),
          idOrName,
          "gateway files list"
        )
      )

export const page = (file: File): string =>
  fields([
    ["Name", file.filename],
    ["Id", file.id],
    ["Size", `${sizeText(file.bytes)} (${Column.thousands(file.bytes)} bytes)`],
    ["Purpose", file.purpose],
    ["Made", isoOf(file.created_at) ?? "-"],
    ["Expires", isoOf(file.expires_at) ?? "never"]
  ])
