/** A transcript in the gateway's own form, from which each form of OpenAI's answer is made. Pure. */
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../../json/Json.ts"
import type { TextFormat } from "./Request.ts"

export interface Segment {
  readonly text: string
  /** Seconds from the begin of the recording. */
  readonly start: number
  readonly end: number
}

export interface Transcript {
  readonly text: string
  /** ISO 639 code or name, as the provider reports it; null when it does not. */
  readonly language: string | null
  /** Seconds; null when it is not known. */
  readonly duration: number | null
  readonly words: ReadonlyArray<Segment>
  readonly segments: ReadonlyArray<Segment>
}

/** An answer with more is longer than any recording. */
const mostSpoken = 1_000_000

/** Items of a list with a text and its times; those without are left out. */
export const spokenIn = (
  list: Json | undefined,
  textNames: ReadonlyArray<string>,
  secondsPerUnit = 1
): ReadonlyArray<Segment> =>
  (isArray(list) ? list.slice(0, mostSpoken) : []).flatMap((item) => {
    if (!isObject(item)) return []
    const start = numberOr(item["start"])
    const end = numberOr(item["end"])
    const name = textNames.find((candidate) => typeof item[candidate] === "string")
    const text = name === undefined ? "" : (stringOr(item[name]) ?? "").trim()
    return start === null || end === null || text === ""
      ? []
      : [{ text, start: start * secondsPerUnit, end: end * secondsPerUnit }]
  })

const mostSegmentSeconds = 6
const mostSegmentChars = 84
/** A silence between two sentences. */
const pauseSeconds = 1

/** Words in pieces that can be read at once. */
export const segmentsOf = (words: ReadonlyArray<Segment>): ReadonlyArray<Segment> => {
  const segments: Array<Segment> = []
  let open: { texts: Array<string>; chars: number; start: number; end: number } | null = null
  const close = (): void => {
    if (open !== null) segments.push({ text: open.texts.join(" "), start: open.start, end: open.end })
    open = null
  }
  for (const { end, start, text } of words) {
    if (
      open !== null &&
      (start - open.end > pauseSeconds ||
        end - open.start > mostSegmentSeconds ||
        open.chars + text.length > mostSegmentChars ||
        /[.!?…。！？]$/.test(open.texts.at(-1) ?? ""))
    )
      close()
    open ??= { texts: [], chars: 0, start, end }
    open.texts.push(text)
    open.chars += text.length + 1
    open.end = end
  }
  close()
  return segments
}

/** `00:01:02,345` or, with a point, as WebVTT writes it. */
export const timestamp = (seconds: number, mark: "," | "."): string => {
  const ms = Math.max(0, Math.round(seconds * 1000))
  const two = (value: number): string => String(value).padStart(2, "0")
  const whole = Math.floor(ms / 1000)
  const clock = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60].map(two).join(":")
  return `${clock}${mark}${String(ms % 1000).padStart(3, "0")}`
}

/** An empty line would end a cue. */
const cueText = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ").replaceAll("-->", "->")

/** https://www.w3.org/TR/webvtt1/ and its older form, SubRip. */
export const subtitles = (format: "srt" | "vtt", segments: ReadonlyArray<Segment>): string => {
  const mark = format === "srt" ? "," : "."
  const cues = segments.map(({ end, start, text }, index) => {
    const number = format === "srt" ? `${index + 1}\n` : ""
    return `${number}${timestamp(start, mark)} --> ${timestamp(end, mark)}\n${cueText(text)}\n\n`
  })
  return (format === "vtt" ? "WEBVTT\n\n" : "") + cues.join("")
}

/** Null where there are no times for subtitles. */
export const asText = (format: TextFormat, { segments, text, words }: Transcript): string | null => {
  if (format === "text") return `${text}\n`
  const shown = segments.length > 0 ? segments : segmentsOf(words)
  return shown.length === 0 && text !== "" ? null : subtitles(format, shown)
}

export const asVerbose = (transcript: Transcript, withWords: boolean): JsonObject => {
  const { duration, language, text, words } = transcript
  const segments = transcript.segments.length > 0 ? transcript.segments : segmentsOf(words)
  return {
    task: "transcribe",
    language: language ?? "unknown",
    duration: duration ?? segments.at(-1)?.end ?? 0,
    text,
    ...(withWords ? { words: words.map(({ end, start, text: word }) => ({ word, start, end })) } : {}),
    segments: segments.map(({ end, start, text: said }, id) => ({ id, start, end, text: said }))
  }
}
