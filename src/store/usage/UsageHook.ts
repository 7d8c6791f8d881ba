/**
 * Statements that run in the transaction that inserts usage rows, so that neither is there without the other. None by default.
 */
import * as Context from "effect/Context"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import type { Column } from "../engine/Columns.ts"

export interface Statement {
  readonly statement: string
  readonly parameters: ReadonlyArray<Column>
}

export interface UsageHookShape {
  /**
   * Statements that run before the rows are inserted. Rows may come again, after a crash or a failure: a statement that must not act twice
   * looks whether the row is in `usage_log` already.
   */
  readonly statementsFor: (rows: ReadonlyArray<{ readonly row: UsageRow }>) => ReadonlyArray<Statement>
  /** The rows and what the statements wrote are committed. Called after each batch. */
  readonly committed: () => void
}

export const noHook: UsageHookShape = { statementsFor: () => [], committed: () => {} }

export class UsageHook extends Context.Reference<UsageHook>()("gateway/store/usage/UsageHook", {
  defaultValue: () => noHook
}) {}
