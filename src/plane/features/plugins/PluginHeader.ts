/** The header that names plugins which have changed or blocked a request. Pure. */
import { pluginsHeader } from "../../request/Headers.ts"
import { headerIn, withHeaders } from "../../reply/ReplyHeaders.ts"

/** Flat name–value list. Those that are named already stay. */
export const namingPlugins = (headers: Array<string>, plugins: ReadonlyArray<string>): Array<string> => {
  if (plugins.length === 0) return headers
  const named = headerIn(headers, pluginsHeader.toLowerCase())?.split(",") ?? []
  return withHeaders(headers, [pluginsHeader, [...new Set([...named, ...plugins])].join(",")])
}
