/** Numbers of processes that serve requests (docs/workers.md). */
import { availableParallelism } from "node:os"

/** Most workers; more than cores make nothing faster. */
export const mostWorkers = 64

/** Returns the number of workers for `auto`: that of the cores, less one for the other processes from four up. */
export const workersFor = (cores: number): number => Math.min(mostWorkers, cores >= 4 ? cores - 1 : cores)

/** Reads a number of workers, or `auto`; null: it is neither. */
export const readWorkers = (text: string, cores = availableParallelism()): number | null => {
  if (text === "auto") return workersFor(cores)
  const workers = /^\d{1,2}$/.test(text) ? Number(text) : 0
  return workers >= 1 && workers <= mostWorkers ? workers : null
}
