/** Stands in place of an answer: the API's own words, and what can be done. */
import type { ApiError } from "../api/ApiError.ts"
import { words } from "../words/common.ts"
import { visible } from "./format.ts"
import { State } from "./State.tsx"

const headOf = ({ code, status }: ApiError): string => {
  if (code === "loopback_only") return words.localOnly
  return status === 403 ? words.forbidden : words.failed
}

export const Failure = ({ error, retry }: { readonly error: ApiError; readonly retry?: () => void }) => (
  <div class="failure" role="alert">
    <State kind="bad">{headOf(error)}</State>
    <p>{visible(error.message)}</p>
    {error.code === "loopback_only" && <p>{words.localOnlyWhy}</p>}
    {error.details.length > 1 && (
      <ul>
        {error.details.map(({ field, message }) => (
          <li key={field}>
            <code>{visible(field)}</code> {visible(message)}
          </li>
        ))}
      </ul>
    )}
    {error.requestId !== null && (
      <p class="quiet">
        {words.requestId} <code>{error.requestId}</code>
      </p>
    )}
    {retry !== undefined && (
      <button type="button" class="button" onClick={retry}>
        {words.retry}
      </button>
    )}
  </div>
)
