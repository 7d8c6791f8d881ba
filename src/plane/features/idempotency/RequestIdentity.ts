/** Computes the identity of a request: the key that its client gave it, and its body. */
import { createHash } from "node:crypto"
import { headerOf, type RequestHeaders } from "../../../subjects/auth/Credentials.ts"
import type { Exchange, Work } from "../../request/Exchange.ts"

export interface RequestIdentity {
  /** Hash of the caller, the route and the key of the client. */
  readonly key: string
  /** Hash of the body, of the members in the path, and of files. */
  readonly body: string
}

/** Bytes of a file that are read at once. */
const pieceBytes = 65_536

const keyHeader = "idempotency-key"
const requestIdHeader = "x-request-id"

const named = (headers: RequestHeaders, name: string): string | null => {
  const value = headerOf(headers, name)
  return value === null || value === "" ? null : value
}

/** Hot: checks whether the client gave it a key. */
export const hasKey = (headers: RequestHeaders): boolean =>
  headers[keyHeader] !== undefined || headers[requestIdHeader] !== undefined

const digest = (...parts: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url")

/** The bodies of two requests are equal when every byte that their clients sent is. */
const bodyHash = ({ body, clientBody, fromPath }: Exchange) =>
  createHash("sha256")
    .update(JSON.stringify(fromPath))
    .update(clientBody ?? body)

/** A key that names a request names one body; an id of a request names another one with each body. */
const identityOf = ({ exchange, owner }: Work, body: string): RequestIdentity | null => {
  const { headers, path } = exchange
  const key = named(headers, keyHeader)
  if (key !== null) return { key: digest(owner, path, keyHeader, key), body }
  const id = named(headers, requestIdHeader)
  return id === null ? null : { key: digest(owner, path, requestIdHeader, id, body), body }
}

/** Null: the client gave it no key. */
export const requestIdentity = (work: Work): RequestIdentity | null =>
  identityOf(work, bodyHash(work.exchange).digest("base64url"))

/** The same of a request with files, which are read for it. */
export const identityWithFiles = async (work: Work): Promise<RequestIdentity | null> => {
  const hash = bodyHash(work.exchange)
  for (const upload of work.exchange.uploads ?? []) {
    hash.update(String(upload.bytes))
    for await (const piece of upload.chunks(pieceBytes)) hash.update(piece)
  }
  return identityOf(work, hash.digest("base64url"))
}
