/** Default weights of the factors, and those of each mode pack. */
import { type PackName, settled, type Weights } from "../../../subjects/combos/entity/AutoWeights.ts"

export const defaultWeights: Weights = settled({
  health: 0.2,
  quota: 0.15,
  costInv: 0.15,
  latencyInv: 0.12,
  taskFit: 0.08,
  stability: 0.05,
  tierPriority: 0.05,
  tierAffinity: 0.05,
  specificityMatch: 0.05,
  contextAffinity: 0.05,
  connectionDensity: 0.05
})

/** The numbers as they are listed, before each pack is divided by its own sum. */
export const listedPacks = {
  "ship-fast": {
    quota: 0.14,
    health: 0.28,
    costInv: 0.05,
    latencyInv: 0.32,
    taskFit: 0.1,
    stability: 0,
    tierPriority: 0.05
  },
  "cost-saver": {
    quota: 0.14,
    health: 0.19,
    costInv: 0.37,
    latencyInv: 0.05,
    taskFit: 0.1,
    stability: 0.05,
    tierPriority: 0.05
  },
  "quality-first": {
    quota: 0.1,
    health: 0.18,
    costInv: 0.05,
    latencyInv: 0.05,
    taskFit: 0.37,
    stability: 0.15,
    tierPriority: 0.05
  },
  "offline-friendly": {
    quota: 0.37,
    health: 0.28,
    costInv: 0.1,
    latencyInv: 0.05,
    taskFit: 0,
    stability: 0.1,
    tierPriority: 0.05
  },
  "reliability-first": {
    health: 0.37,
    stability: 0.2,
    quota: 0.14,
    taskFit: 0.1,
    latencyInv: 0.05,
    tierPriority: 0.05,
    connectionDensity: 0.05,
    costInv: 0.04
  }
} as const

export const packs: Readonly<Record<PackName, Weights>> = {
  default: defaultWeights,
  "ship-fast": settled(listedPacks["ship-fast"]),
  "cost-saver": settled(listedPacks["cost-saver"]),
  "quality-first": settled(listedPacks["quality-first"]),
  "offline-friendly": settled(listedPacks["offline-friendly"]),
  "reliability-first": settled(listedPacks["reliability-first"])
}
