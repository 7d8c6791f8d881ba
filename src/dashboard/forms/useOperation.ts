/** The operation of a form by its id: from the index, then its file. */
import type { ReadonlySignal } from "@preact/signals"
import { type Result, useAnswer } from "../api/queries.ts"
import { loadOperation, loadOperations, type Operation } from "./operations.ts"

export const useOperation = (id: string): ReadonlySignal<Result<Operation>> =>
  useAnswer({
    key: ["operation", "by id", id],
    ask: async (signal) => {
      const file = (await loadOperations(signal)).find((operation) => operation.id === id)?.file
      return loadOperation(file ?? "", signal)
    }
  })
