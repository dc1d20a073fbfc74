"""An article with statements to check, and with all that the Markdown of a block has to escape."""

HTML = """<article><h1>T &amp; x</h1>
<p class="intro">It takes <mark>3 s</mark>, says <em>Bob</em>. It costs <mark>5 EUR</mark>
<a href="https://x.example/#a">[1]</a>. A <code>b == c</code>, 2*3*4, a_b_c, [x],
&lt;p&gt;, \\, &amp;lt; <kbd>Ctrl</kbd>.</p>
<ul><li>One <strong>two</strong></li><li><p>Para</p></li></ul>
<table><tr><td>cell <mark>9</mark></td><td>b</td></tr></table><p>Last.</p></article>"""
