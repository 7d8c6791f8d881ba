/** Time limit of code: the engine asks for it again and again while it runs. */

export interface Clock {
  readonly nowMs: () => number
  /** Processor time of the thread; null where it is not known. */
  readonly cpuMs: () => number | null
}

export interface Deadline {
  /** `cpuMs`: processor time that is left; `wallMs`: of the clock, for all cases. */
  readonly begin: (cpuMs: number, wallMs: number) => void
  /** Time that the thread has waited for the gateway does not count. */
  readonly extend: (waitedMs: number) => void
  /** Processor time since `begin`. */
  readonly end: () => number
  /** Hot: tells whether the code has to stop. Stays true until the next `begin`. */
  readonly isOver: () => boolean
  readonly wasOver: () => boolean
}

/** Asking the system for the processor time costs more than what so short a turn could be charged too much. */
const notWorthReadingMs = 0.5

export const makeDeadline = ({ cpuMs, nowMs }: Clock): Deadline => {
  let budgetMs = 0
  let begunMs = 0
  let begunCpuMs: number | null = null
  let checkAtMs = 0
  let lastAtMs = 0
  let isOver = false

  const usedMs = (): number => {
    const passedMs = nowMs() - begunMs
    if (begunCpuMs === null || passedMs < notWorthReadingMs) return passedMs
    const cpu = cpuMs()
    return cpu === null ? passedMs : Math.min(cpu - begunCpuMs, passedMs)
  }

  return {
    begin: (cpuLeftMs, wallMs) => {
      budgetMs = cpuLeftMs
      begunMs = nowMs()
      begunCpuMs = cpuMs()
      checkAtMs = begunMs + cpuLeftMs
      lastAtMs = begunMs + wallMs
      isOver = false
    },
    extend: (waitedMs) => {
      checkAtMs += waitedMs
      if (begunCpuMs === null) begunMs += waitedMs
    },
    end: usedMs,
    isOver: () => {
      if (isOver) return true
      const now = nowMs()
      if (now < checkAtMs) return false
      const left = budgetMs - usedMs()
      if (left > 0.5 && now < lastAtMs) {
        checkAtMs = now + left
        return false
      }
      isOver = true
      return true
    },
    wasOver: () => isOver
  }
}
