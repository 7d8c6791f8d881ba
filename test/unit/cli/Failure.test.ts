import { QuitException } from "@effect/platform/Terminal"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Failure from "../../../src/cli/Failure.ts"

const codeOf = (error: unknown): number => Failure.exitCode(Exit.fail(error))

describe("exitCode", () => {
  it("tells scripts what kind of failure it was", () => {
    assert.strictEqual(Failure.exitCode(Exit.void), 0)
    assert.strictEqual(codeOf(new Failure.CommandFailed({ message: "" })), 1)
    assert.strictEqual(codeOf(new Failure.AlreadyReported()), 1)
    assert.strictEqual(codeOf(new Error("unknown")), 1)
    assert.strictEqual(codeOf(new Failure.BadArgument({ message: "" })), 2)
    assert.strictEqual(codeOf(new Failure.ServerOffline({ message: "" })), 3)
    assert.strictEqual(codeOf(new Failure.AuthRefused({ message: "" })), 4)
    assert.strictEqual(codeOf(new Failure.RateLimited({ message: "" })), 5)
    assert.strictEqual(codeOf(new Failure.NoAnswerInTime({ message: "" })), 124)
    assert.strictEqual(codeOf(new QuitException()), 130)
    assert.strictEqual(Failure.exitCode(Exit.interrupt(FiberId.none)), 130)
    assert.strictEqual(Failure.exitCode(Exit.die("bug")), 1)
  })
})

describe("report", () => {
  it("says what is wrong and what to do", () => {
    const text = Failure.report(Cause.fail(new Failure.CommandFailed({ message: "It broke.", hint: "Mend it." })))
    assert.strictEqual(text, "gateway: It broke.\nMend it.")
  })

  it("is silent where nothing is left to say", () => {
    assert.isNull(Failure.report(Cause.interrupt(FiberId.none)))
    assert.isNull(Failure.report(Cause.fail(new QuitException())))
    assert.isNull(Failure.report(Cause.fail(new Failure.AlreadyReported())))
  })

  it("calls a defect a fault of the program", () => {
    assert.include(Failure.report(Cause.die(new Error("bug"))) ?? "", "fault of the program")
  })
})
