/** Answers in the forms of SCIM (RFC 7644, 3.12), and what a request says in its headers and query. Pure but for the reply. */
import type { IncomingHttpHeaders } from "node:http"
import { namesWeakly, tagCondition } from "../../kernel/text/EntityTags.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { everything, type Selection } from "../../subjects/scim/Resources.ts"
import { badValue, schemaIds, type ScimError } from "../../subjects/scim/entity.ts"
import type { Query } from "../../subjects/scim/service.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { sendPlain } from "../edge/PlainAnswers.ts"

export interface ScimAnswer {
  readonly status: number
  /** Null: the answer has no body. */
  readonly body: JsonObject | null
  /** Tag of the resource's state; null: it has none. */
  readonly version?: string
  readonly location?: string
  readonly retryAfterMs?: number
  readonly authenticate?: boolean
  /** Id of what was changed; null: no single thing. */
  readonly target?: string
}

export const errorAnswer = ({ detail, retryAfterMs, scimType, status }: ScimError): ScimAnswer => ({
  status,
  body: {
    schemas: [schemaIds.error],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail
  },
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  ...(status === 401 ? { authenticate: true } : {})
})

export const sendScim = (reply: ClientReply, requestId: string, answer: ScimAnswer): void => {
  const { authenticate = false, body, location, retryAfterMs, status, version } = answer
  const more: Array<string> = ["Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"]
  if (version !== undefined) more.push("ETag", version)
  if (location !== undefined) more.push("Location", location)
  if (retryAfterMs !== undefined) more.push("Retry-After", String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  if (authenticate) more.push("WWW-Authenticate", "Bearer")
  sendPlain(reply, requestId, {
    status,
    type: "application/scim+json; charset=utf-8",
    body: body === null ? "" : JSON.stringify(body),
    more
  })
}

export const isScimBody = (type: string | undefined): boolean =>
  /^application\/(?:scim\+)?json\s*(?:;|$)/i.test(type ?? "")

/** Makes the check of `If-Match`; a value that is no condition fits nothing. */
export const fitsOf = ({ "if-match": given }: IncomingHttpHeaders): ((version: string) => boolean) => {
  if (given === undefined) return () => true
  const condition = tagCondition(given)
  return (version) => condition !== null && namesWeakly(condition, version)
}

/** Checks whether the caller has this state already (`If-None-Match`). */
export const isKnown = ({ "if-none-match": given }: IncomingHttpHeaders, version: string): boolean => {
  const condition = given === undefined ? null : tagCondition(given)
  return condition !== null && namesWeakly(condition, version)
}

const maxListed = 50

const namesIn = (text: string | null): ReadonlySet<string> | null =>
  text === null || text.trim() === ""
    ? null
    : new Set(
        text
          .split(",", maxListed)
          .map((name) =>
            name
              .trim()
              .toLowerCase()
              .replace(/^urn:.*:/, "")
          )
          .filter((name) => name !== "")
      )

const wholeOf = (text: string | null, absent: number): number | null => {
  if (text === null || text === "") return absent
  return /^-?\d{1,9}$/.test(text) ? Number(text) : null
}

export const selectionOf = (search: URLSearchParams): Selection => ({
  wanted: namesIn(search.get("attributes")),
  unwanted: namesIn(search.get("excludedAttributes")) ?? everything.unwanted
})

/** Number of resources of a page where none is said. */
const usualCount = 100

export const queryOf = (search: URLSearchParams): Query | ScimError => {
  const startIndex = wholeOf(search.get("startIndex"), 1)
  const count = wholeOf(search.get("count"), usualCount)
  if (startIndex === null || count === null) return badValue("'startIndex' and 'count' are whole numbers.")
  const filter = search.get("filter")
  return {
    filter: filter === null || filter.trim() === "" ? null : filter,
    startIndex: Math.max(1, startIndex),
    count: Math.max(0, count),
    selection: selectionOf(search)
  }
}

export const listAnswer = (total: number, startIndex: number, resources: ReadonlyArray<JsonObject>): ScimAnswer => ({
  status: 200,
  body: {
    schemas: [schemaIds.list],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources
  }
})
