/**
 * The same call for a terminal: as a command of `gateway` and as curl. Given by a call of `api/calls.generated.ts` (`call`) and what it is asked with,
 * as in `<CopyAs call={providersTest} path={{ id }} />`.
 */
import type { ComponentChildren } from "preact"
import { words } from "../../words/common.ts"
import { Copyable } from "./Copyable.tsx"
import { commandOf, curlOf } from "./callText.ts"

interface Properties {
  readonly call: { readonly method: string; readonly path: string }
  /** Members of the path. */
  readonly path?: Readonly<Record<string, unknown>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  /** Shown at once, without a click. */
  readonly isOpen?: boolean
  /** Instead of "Copy as a command". */
  readonly children?: ComponentChildren
}

export const CopyAs = ({ body, call, children, isOpen = false, path, query }: Properties) => {
  const shown = {
    method: call.method,
    path: call.path,
    ...(path === undefined ? {} : { parts: path }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined || body === null ? {} : { body })
  }
  return (
    <details class="copy-as" open={isOpen}>
      <summary>{children ?? words.copyAs}</summary>
      <Copyable name="gateway" text={commandOf(shown)} />
      <Copyable name="curl" text={curlOf(shown)} />
    </details>
  )
}
