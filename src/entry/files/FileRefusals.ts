/** Refusals of requests for files that their callers may not have. */
import { type ErrorView, errorView } from "../../contract/domain/Errors.ts"
import type { FileNotFound, FileQuotaExceeded } from "../../subjects/files/service.ts"

export const unknownFile = ({ id }: FileNotFound, param: string): ErrorView =>
  errorView(404, `There is no file '${id.slice(0, 100)}'.`, { code: "file_not_found", param })

export const quotaExceeded = ({ quotaBytes }: FileQuotaExceeded): ErrorView =>
  errorView(
    413,
    `The files of this API key may have ${quotaBytes} bytes together (setting files.quotaBytesPerKey). Delete some, or let them expire.`,
    { code: "file_quota_exceeded" }
  )
