/** Answers that wait for the same write: what goes wrong with one is that one's alone. */
import { assert, describe, it } from "@effect/vitest"
import type { UsageRow } from "../../../../src/contract/domain/Usage.ts"
import { makeAcknowledge } from "../../../../src/plane/settle/Acknowledgement.ts"
import type { Exchange } from "../../../../src/plane/request/Exchange.ts"

const row = (id: string) => ({ id }) as unknown as UsageRow
const exchange = (requestId: string) => ({ requestId }) as unknown as Exchange
const broken = new Error("broken")
const throwing = (): never => {
  throw broken
}

const setUp = (append: (row: UsageRow, ...more: ReadonlyArray<UsageRow>) => void = () => {}) => {
  const turns: Array<() => void> = []
  const defects: Array<readonly [string, unknown]> = []
  const lost: Array<string> = []
  const answered: Array<string> = []
  const acknowledge = makeAcknowledge({
    append,
    soon: (run) => void turns.push(run),
    lost: (rows) => void lost.push(...rows.map(({ id }) => id)),
    defect: (exchange, cause) => void defects.push([exchange.requestId, cause])
  })
  const end = (id: string, answer: () => void = () => void answered.push(id)): void =>
    acknowledge(row(id), answer, exchange(id))
  const turn = (): void => {
    for (const run of turns.splice(0)) run()
  }
  return { end, turn, defects, lost, answered }
}

describe("the end of a turn", () => {
  it("gives all others their answers when telling one throws, and says whose it was", () => {
    const { answered, defects, end, turn } = setUp()
    end("a")
    end("b", throwing)
    end("c")
    turn()
    assert.deepStrictEqual(answered, ["a", "c"])
    assert.deepStrictEqual(defects, [["b", broken]])
    end("d")
    turn()
    assert.deepStrictEqual(answered, ["a", "c", "d"])
  })

  it("answers every request when the rows cannot be written to the file", () => {
    const { answered, defects, end, lost, turn } = setUp(throwing)
    end("a")
    end("b")
    turn()
    assert.deepStrictEqual(answered, ["a", "b"])
    assert.deepStrictEqual(defects, [])
    assert.deepStrictEqual(lost, ["a", "b"])
  })
})
