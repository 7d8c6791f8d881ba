/** Failures of Postgres: which of them pass when the transaction is done again, and which mean that the server is not there. */
import { SqlError } from "@effect/sql/SqlError"
import * as Redacted from "effect/Redacted"
import { codeOf, DatabaseUnreachable, reasonOf } from "../../Errors.ts"

/** Two transactions were in each other's way (40001) or waited for each other (40P01). https://www.postgresql.org/docs/15/errcodes-appendix.html */
const passing: ReadonlySet<string> = new Set(["40001", "40P01"])

export const mayBeRetried = (error: unknown): boolean => passing.has(codeOf(error) ?? "")

/** Classes and codes of SQLSTATE, and of the system. */
const lostCode =
  /^(?:08...|57P0[1-5]|53300|E(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|HOSTUNREACH|NETUNREACH|TIMEDOUT|NOTFOUND)|EAI_AGAIN)$/
/** Words of the driver, which has no codes for these. */
const lostWords =
  /Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Connection timed out|server closed the connection/i

export const isLost = (error: unknown): boolean => {
  const code = codeOf(error)
  return (code !== null && lostCode.test(code)) || lostWords.test(reasonOf(error))
}

/** The address in a URL, for sentences. */
export const addressIn = (url: Redacted.Redacted): string => {
  try {
    const { host, pathname } = new URL(Redacted.value(url))
    return `${host}${pathname}`
  } catch {
    return "GATEWAY_DATABASE_URL"
  }
}

/** The same error; of a lost connection with a cause that says so. */
export const told =
  (address: string) =>
  (error: SqlError): SqlError =>
    isLost(error)
      ? new SqlError({ message: error.message, cause: new DatabaseUnreachable({ address, reason: reasonOf(error) }) })
      : error
