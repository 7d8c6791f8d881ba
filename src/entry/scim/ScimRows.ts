/** Rows of the audit log for requests of a directory. Of what was sent only the names of fields are kept. Pure. */
import type { ScimRoute } from "../../contract/EdgeRoutes.ts"
import type { AuditDetails, AuditRow } from "../../subjects/audit/entity.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { isArray, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { callerOf, whoOf } from "../handling/AuditTrail.ts"
import type { ScimAnswer } from "./ScimReply.ts"

export interface ScimChange {
  readonly key: ScimRoute["key"]
  /** Null: it is not known who asks. */
  readonly principal: Principal | null
  /** Code of the refusal of the caller; undefined: the caller was let in. */
  readonly code: string | undefined
  /** Parameter of the path; empty: it has none. */
  readonly id: string
  readonly body: JsonObject
  readonly answer: ScimAnswer
  readonly requestId: string
  readonly atMs: number
  readonly ip: string
}

const maxText = 200
const maxFields = 64

/** Paths of a PATCH, without what a filter in them names; else the names of what was sent. */
const fieldsOf = (body: JsonObject): ReadonlyArray<string> => {
  const operations = body["Operations"]
  if (!isArray(operations)) return Object.keys(body)
  const names = operations.slice(0, maxFields).flatMap((each) => {
    const { path, value } = objectOr(each)
    return typeof path === "string" ? [path.replace(/\[.*\]/, "[]")] : Object.keys(objectOr(value))
  })
  return [...new Set(names)]
}

export const rowOfScim = ({ answer, atMs, body, code, id, ip, key, principal, requestId }: ScimChange): AuditRow => {
  const isSuccess = answer.status < 400
  const scimType = answer.body?.["scimType"]
  const refusal = code ?? (typeof scimType === "string" ? scimType : undefined)
  const fields = isSuccess ? fieldsOf(body).slice(0, maxFields) : []
  const details: AuditDetails = {
    httpStatus: answer.status,
    ...(isSuccess || refusal === undefined ? {} : { code: refusal }),
    ...whoOf(principal),
    ...(fields.length === 0 ? {} : { fields: fields.map((name) => name.slice(0, maxText)) })
  }
  return {
    id: requestId,
    timestampMs: Math.trunc(atMs),
    action: key,
    actor: callerOf({ principal, body: undefined }),
    target: answer.target ?? (id === "" ? null : id.slice(0, maxText)),
    resourceType: "scim",
    status: isSuccess ? "success" : "failure",
    ip,
    details
  }
}
