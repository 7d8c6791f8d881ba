/** A process that writes as fast as it can and says on stdout what is safe, until it is killed. Bundled by `kill.slow.test.ts`. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ComboRepo from "../../../src/subjects/combos/repo.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { combo, onDisk, usageRow } from "../../unit/store/fixtures.ts"

const [, , what, dataDir = ""] = process.argv

/** Waits until the line is written: a full pipe must slow the storm down, not end it. */
const safe = (id: string) =>
  Effect.async<void>((resume) => void process.stdout.write(`${id}\n`, () => resume(Effect.void)))

const usageStorm = Effect.gen(function* () {
  const journal = yield* UsageJournal.UsageJournal
  for (let n = 1; ; n++) {
    const row = usageRow(n)
    journal.append(row)
    yield* safe(row.id)
    // A turn of the event loop now and then, as between requests, lets batches enter the table.
    if (n % 20 === 0) yield* Effect.sleep(1)
  }
}).pipe(Effect.provide(Layer.provide(UsageJournal.layer, onDisk(dataDir))))

const comboStorm = Effect.gen(function* () {
  const repo = yield* ComboRepo.ComboRepo
  for (let n = 1; ; n++) {
    const id = `combo-${n}`
    yield* repo.insert({ ...combo, id, name: id })
    yield* safe(id)
  }
}).pipe(Effect.provide(Layer.provide(ComboRepo.layer, onDisk(dataDir))))

Effect.runFork(what === "usage" ? usageStorm : comboStorm)
