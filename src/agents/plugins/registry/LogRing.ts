/** The last lines that a plugin wrote. */
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import type { LogLine } from "../sandbox/Sandbox.ts"

export const maxLines = 200
const maxChars = 2_000

export class LogRing {
  #lines: Array<LogLine> = []

  add(_permission: ContentPermission, line: LogLine): void {
    this.#lines.push(
      line.message.length > maxChars ? { ...line, message: `${line.message.slice(0, maxChars)}…` } : line
    )
    // In larger steps than one: each step moves all that stay.
    if (this.#lines.length > 2 * maxLines) this.#lines = this.#lines.slice(-maxLines)
  }

  /** The newest last. */
  last(count: number): ReadonlyArray<LogLine> {
    return this.#lines.slice(-Math.min(count, maxLines))
  }
}
