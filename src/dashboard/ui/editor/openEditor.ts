/**
 * The editor for JSON and long texts, loaded when one is opened. It stands in a shadow root: there its styles are sheets of the root, which the
 * policy of the page lets pass; on the page itself they would be an element, which it blocks.
 */
import { standardKeymap, history, historyKeymap } from "@codemirror/commands"
import { json, jsonParseLinter } from "@codemirror/lang-json"
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting
} from "@codemirror/language"
import { linter } from "@codemirror/lint"
import { Compartment, EditorState, type Extension } from "@codemirror/state"
import { EditorView, keymap, lineNumbers } from "@codemirror/view"
import { tags } from "@lezer/highlight"

export interface EditorAsked {
  readonly language: "json" | "text"
  readonly text: string
  /** Read out as the name of the field. */
  readonly name: string
  /** Called for each change that was typed. */
  readonly onText: (text: string) => void
}

export interface FieldState {
  readonly isDisabled: boolean
  readonly isWrong: boolean
  /** Id of what describes it; null: nothing. */
  readonly describedBy: string | null
}

export interface OpenedEditor {
  /** Puts another text in the place of the present one. */
  readonly setText: (text: string) => void
  readonly setState: (state: FieldState) => void
  /** Goes into it; `at` is where one was in the plain field. */
  readonly focus: (at?: number) => void
  readonly close: () => void
}

/** Colours are the page's own tokens, which reach into the root. */
const theme = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "var(--ground)",
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius)",
    maxHeight: "min(420px, 60vh)",
    fontSize: "13px"
  },
  "&.cm-focused": { outline: "2px solid var(--link)", outlineOffset: "2px" },
  "&.wrong": { borderColor: "var(--bad)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", overflow: "auto", minHeight: "80px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "var(--raised)", borderRight: "1px solid var(--line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "color-mix(in srgb, var(--link) 30%, transparent) !important"
  },
  ".cm-matchingBracket": { outline: "1px solid var(--edge)", backgroundColor: "transparent !important" },
  ".cm-foldPlaceholder": { color: "var(--quiet)", backgroundColor: "var(--pressed)", border: "0", padding: "0 4px" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--raised)", border: "1px solid var(--edge)" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--bad)", backgroundImage: "none" }
})

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--link)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: tags.number, color: "var(--trial)" },
  { tag: [tags.bool, tags.null], color: "var(--warning)" },
  { tag: tags.invalid, color: "var(--bad)" }
])

const parse = jsonParseLinter()

/** Nothing written is no mistake: the field is absent then. */
const problems = linter((view) => (view.state.doc.length === 0 ? [] : parse(view)))

const languages: Readonly<Record<EditorAsked["language"], Extension>> = {
  json: [json(), problems, lineNumbers(), foldGutter(), bracketMatching(), indentOnInput(), keymap.of(foldKeymap)],
  text: []
}

/** Keys that are typed while the page draws. */
const mostAwaited = 50

export const openEditor = (host: HTMLElement, { language, name, onText, text }: EditorAsked): OpenedEditor => {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" })
  const changing = new Compartment()
  const told = (state: FieldState): Extension => [
    EditorView.editable.of(!state.isDisabled),
    EditorState.readOnly.of(state.isDisabled),
    EditorView.editorAttributes.of({ class: state.isWrong ? "wrong" : "" }),
    EditorView.contentAttributes.of({
      // Focusable in any case, for who looks for it by this.
      tabindex: "0",
      "aria-label": name,
      "aria-invalid": String(state.isWrong),
      ...(state.describedBy === null
        ? {}
        : { "aria-description": document.getElementById(state.describedBy)?.textContent ?? "" })
    })
  ]
  // What the page itself puts in is not told back to it.
  let isPutIn = false
  // What was told and has not come back yet: an older one of these is no change by the page, only later than the next key.
  let awaited: Array<string> = []
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        changing.of(told({ isDisabled: false, isWrong: false, describedBy: null })),
        languages[language],
        history(),
        // Tab leaves the field, as everywhere on the page.
        keymap.of([...standardKeymap, ...historyKeymap]),
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        theme,
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (!docChanged || isPutIn) return
          const typed = state.doc.toString()
          awaited.push(typed)
          if (awaited.length > mostAwaited) awaited.shift()
          onText(typed)
        })
      ]
    })
  })
  return {
    setText: (next) => {
      const at = awaited.lastIndexOf(next)
      if (at !== -1) {
        awaited.splice(0, at + 1)
        return
      }
      if (next === view.state.doc.toString()) return
      awaited = []
      isPutIn = true
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
      isPutIn = false
    },
    setState: (state) => view.dispatch({ effects: changing.reconfigure(told(state)) }),
    focus: (at) => {
      if (at !== undefined) view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } })
      view.focus()
    },
    close: () => view.destroy()
  }
}
