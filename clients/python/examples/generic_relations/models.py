from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import models
from pg_ulid.django import GenUlid, UlidField

class Tag(models.Model):
    content_type = models.ForeignKey(ContentType, models.CASCADE)
    object_id = models.CharField(max_length=255)
    object_ulid = models.GeneratedField(
        expression=models.Func(
            "object_id",
            template="CASE WHEN ulid_is_valid(%(expressions)s) THEN (%(expressions)s)::ulid END",
            output_field=UlidField(),
        ),
        output_field=UlidField(null=True), db_persist=True, db_index=True,
    )
    target = GenericForeignKey("content_type", "object_id")
    name = models.TextField()

class Order(models.Model):
    id = UlidField(primary_key=True, db_default=GenUlid())
    note = models.TextField(null=True)
    tags = GenericRelation(Tag, object_id_field="object_ulid")
