{#-
  Check the arguments that operations have in common, before anything runs: a misspelt `dry_run` must not run,
  nor be taken for one. A text is true in Jinja, whatever it says.
-#}
{% macro _deltawiden_check_arguments(operation, others, output, booleans={}) %}
  {%- set name = operation.macro.name -%}
  {%- if others -%}
    {%- set accepted = operation.macro.arguments | map(attribute='name') -%}
    {% do exceptions.raise_compiler_error(
      name ~ ': there is no argument ' ~ others | join(', ') ~ '; accepted: ' ~ accepted | join(', ')) %}
  {%- endif -%}
  {%- if output not in ['text', 'json'] -%}
    {% do exceptions.raise_compiler_error(name ~ ": output: got '" ~ output ~ "'; accepted: text, json") %}
  {%- endif -%}
  {%- for argument, value in booleans.items() if value is not boolean -%}
    {% do exceptions.raise_compiler_error(
      name ~ ': ' ~ argument ~ ": got '" ~ value ~ "'; accepted: true, false") %}
  {%- endfor -%}
{% endmacro %}
