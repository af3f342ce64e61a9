// Search on pages that are opened as files. It runs in a worker, which browsers do not give to such pages: a frame
// that is not shown takes its place. The index is a script then (docs/hooks/offline.py), since files fetch nothing.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = frame.contentDocument.createElement("script")
      this.ready = new Promise(done => script.addEventListener("load", done))
      script.src = url
      frame.contentDocument.body.append(script)
    }

    async postMessage(data) {
      await this.ready
      this.inside.dispatchEvent(new MessageEvent("message", { data }))
    }
  }
}
